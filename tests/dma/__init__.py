"""Tests of block dma."""
