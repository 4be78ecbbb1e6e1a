"""Authentication: pure functions of the request, the key and the time."""
