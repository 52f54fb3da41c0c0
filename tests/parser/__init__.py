"""Tests of block ``parser``."""
