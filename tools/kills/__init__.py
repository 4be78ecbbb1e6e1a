"""Kills a real server that keeps its sandboxes on disk, over and over, and holds what is left against what it told."""
