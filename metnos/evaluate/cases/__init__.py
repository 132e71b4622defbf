"""Recorded turns as test cases: expectations that people can edit, observations that are frozen; turns forked at a step."""
