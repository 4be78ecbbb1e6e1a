"""Wire formats: how what the domain knows is spelled in responses, callbacks and headers."""
