"""Programs that Metnos is measured beside; each runs in an environment of its own."""
