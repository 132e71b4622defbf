"""Parts of `cache_safety.py`: requests whose meaning is known, and how reuse of their plans is judged."""
