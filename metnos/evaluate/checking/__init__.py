"""An evaluation as a check of a build: JUnit, annotations, a pytest plugin.

Law: says what the comparison says and decides nothing itself; every regression is a failure with its turns, and the run
file is its place.
"""
