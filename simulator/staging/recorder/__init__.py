"""Writes what was seen between a client and the service as a scenario that plays it again."""
