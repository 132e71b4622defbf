"""The plan: Framework v1, references, line notation, canonical form and digests, diagnostics.

Law: spelling and form only. What a plan means is `values/`, whether it fits the catalog is `checks/`. `jsondata` is
the one door through which bytes become data, and data the bytes that are hashed.
"""
