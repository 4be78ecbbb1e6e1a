"""The HTTP server's own layer: limits on a request's head, and connection faults that ASGI cannot make."""
