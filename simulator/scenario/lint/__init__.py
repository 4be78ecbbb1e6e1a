"""Lint of `check`: parts of a scenario that load without error, but cannot have their intended effect."""
