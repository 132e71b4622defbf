"""The sans-I/O turn machine: inputs in, facts and commands out; scheduling.

Law: a pure fold. No clock, disk, network, model or asyncio; ids, times and results arrive inside inputs.
"""
