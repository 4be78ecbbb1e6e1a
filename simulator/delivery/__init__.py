"""Outgoing HTTP: one attempt at a time, to addresses that were checked first."""
