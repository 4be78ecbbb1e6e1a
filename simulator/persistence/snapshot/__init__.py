"""Snapshots: the whole state of a sandbox at a place of its tape, as bytes that it can continue from."""
