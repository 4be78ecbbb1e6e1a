"""Schemathesis against a real server: what it sends, what it may be refused, and how a run is counted."""
