"""Tests of block ``mac``."""
