"""Keeps sandboxes on disk: their inputs and snapshots in a database, and lets nothing leave before it is there."""
