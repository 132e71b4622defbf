"""Constrained decoding of a plan: after each line the grammar of the next is made from what the plan so far makes."""
