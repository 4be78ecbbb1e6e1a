"""Run Schemathesis against a real server."""
