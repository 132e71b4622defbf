"""The command line: what a person sees and types. It knows the engine's public door and nothing behind it."""
