"""What can be said of a state by looking at it: coverage and the ledger's own proof."""
