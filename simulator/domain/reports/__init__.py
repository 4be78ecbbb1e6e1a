"""Reports computed from a state: coverage, and the consistency of the ledger."""
