"""Serializes the inputs of a sandbox, so that they can be replayed in another one."""
