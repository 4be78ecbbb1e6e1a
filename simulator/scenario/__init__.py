"""Scenario files: parsed with positions, validated, built into the start of a sandbox."""
