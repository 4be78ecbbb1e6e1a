"""Replays of tapes: rebuilding a sandbox from its inputs, and comparing the results with the recorded results."""
