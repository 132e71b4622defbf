"""Two results of the same turns beside each other: what differs, how surely, and which turns are worse.

Law: only turns that both have, and that are the same recording, are compared; a difference is told with its interval, a
regression with the turns in which it shows.
"""
