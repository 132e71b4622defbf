"""Templates of plans: their wordings, what they say, and the signed ones that are shipped."""
