"""Explore: runs a command under one fault after the other, and then under storms, until it fails."""
