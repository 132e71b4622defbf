"""Turns wherever they lie, as one thing: a home's journal, JSONL, a stream, sealed Parquet."""
