"""Contracts: what executors promise, who vouches for it, and which of them are admitted.

Law: of plans being run this room knows nothing. `load.load_catalog` is the way in; `catalog.Catalog` is what comes out.
"""
