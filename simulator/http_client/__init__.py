"""Outgoing HTTP: single attempts, to validated addresses."""
