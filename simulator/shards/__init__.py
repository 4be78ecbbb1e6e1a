"""Sharding: assigns sandboxes to servers, configures the proxy in front, and forwards requests between servers."""
