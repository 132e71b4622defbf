"""Policy: what may happen, what is asked about, and what an approval is bound to. Pure."""
