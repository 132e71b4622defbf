"""One job over all turns of a collection: in this process, in several, or on Ray, with the same figures bit for bit."""
