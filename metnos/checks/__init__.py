"""The checks: a plan bound to contracts with every fault it has, and the guards every plan passes.

Law: verdicts are values; nothing here raises on bad data, runs a step, or knows where a plan came from beyond the
source of its literals.
"""
