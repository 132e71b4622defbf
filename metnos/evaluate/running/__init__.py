"""Recorded turns run again with other parts, on what was observed: rules, proposer, caches, catalog are swapped.

Law: commands are answered from the record, or not at all. What a turn asks for that was not recorded ends it as
`unobserved` (a call) or `unanswered` (anything else), with the place; nothing is run and nobody is asked.
"""
