"""Runs a verilated model in this Python process: ``python -P tb/host.py sim.so [argument...]``.

cocotb wants a Python to load into the simulator, which needs libpython as a shared library; Debian's python3 comes
without one. So it is the other way round: the simulator is loaded into Python, whose program has all its symbols.
The model's entry never returns: it ends the process, since cocotb has shut the interpreter down by then.
"""

import ctypes
import sys

simulator = ctypes.PyDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)  # global: benches find its C functions by name
arguments = [argument.encode() for argument in sys.argv[1:]]
simulator.nicloop_simulate(len(arguments), (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None))
