"""Imports a real account: reads its read-only endpoints, and writes a scenario that serves the same."""
