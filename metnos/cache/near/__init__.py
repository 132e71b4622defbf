"""Similar requests: found, held against every difference that could change a meaning, and served only if confirmed."""
