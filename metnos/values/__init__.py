"""Values: data with their sources, and the one place where references are resolved. Pure.

Law: who produced a value is not known here, and nothing here produces one. `compile` makes expressions, `resolve`
walks them, `runtime` says what symbolic time means at one reference time.
"""
