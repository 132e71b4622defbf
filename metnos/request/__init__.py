"""What the person said: normal form, slots, clauses, request intents. Pure; what is done about it is not known here."""
