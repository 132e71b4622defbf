"""The live driver and what it is put together from. It obeys the machine's commands; it decides nothing."""
