"""Scenario files: read with positions, checked, built into what a sandbox starts from."""
