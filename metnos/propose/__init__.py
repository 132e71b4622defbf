"""Proposing: what a proposer is asked with, and what its reply says. Knows no execution and calls no model itself."""
