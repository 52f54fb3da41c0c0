"""Bench of block ``dma``: a host that splits, reorders, starves and lies, and the environment around the RTL."""
