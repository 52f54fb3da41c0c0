"""Registers: SystemRDL to Verilog, Python map, C header and manual; access by name; the automatic suite.

``tb.registers.map`` has what users of the registers need. Nothing is imported here: the generator
(``python -m tb.registers``) must run before there is a map.
"""
