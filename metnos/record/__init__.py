"""The room of records: what happened in a turn, in order, provably. See `store` for the interface."""
