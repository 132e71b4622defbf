"""What a small model is told: a stable prefix, then the request; and the gate that asks it whether that can be done.

Law: the prefix is made of the catalog and of shipped data only. Nothing that a person says, that a tool returns or that
the clock shows stands in it, so its bytes are the same over all turns of one catalog and a model's state of it holds.
"""
