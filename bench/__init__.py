"""Benches of speed and throughput: ``python -m bench.speed``, ``python -m bench.throughput``."""
