"""Keeps running sandboxes on disk: writes what their tapes get, and lets nothing leave before it is there."""
