"""Tests of block ``ipsec``."""
