"""What is kept: entries, their keys, signatures and validity, on disk, in memory, and in front of the disk."""
