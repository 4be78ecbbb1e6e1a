"""Imports a real account: reads what its read-only endpoints tell, and writes a scenario that serves the same."""
