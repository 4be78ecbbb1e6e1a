"""The control API under /_sim: JSON, unsigned, guarded."""
