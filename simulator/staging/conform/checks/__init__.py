"""The checks, in modules by subject."""
