"""Many recorded turns replayed: how many came out as they were recorded, and what the others differ by first."""
