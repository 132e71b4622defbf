"""Plans that are there already: signed templates now, learned plans later. Knows no proposer and no executor."""
