"""Streams of requests made from the starter catalog, and the files that they are about."""
