"""A run as text, as a block for a scenario, and as files for machines and people."""
