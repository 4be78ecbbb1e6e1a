"""Plays a tape: rebuilds a sandbox from its inputs, and compares what it says with what was said."""
