"""What turns came to, for people: a table in the terminal, JSON, and one page of HTML that holds everything it shows."""
