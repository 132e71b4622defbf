"""Recorded turns as material: replayed by the thousand, evaluated with other parts, compared, reported.

Law: nothing with an effect can be run from this room. It knows no runner and no live driver (an import contract holds
that); what a turn asks for and was not recorded is a named difference, never a call. The heavy libraries (`duckdb`,
`jinja2`: extra `evaluate`; `ray`: extra `ray`) are imported by the function that needs them.

Sub-packages: `collections` (turns wherever they lie, as one thing), `replaying` (many of them, in processes or on Ray).
"""
