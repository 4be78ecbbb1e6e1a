"""Wire formats: how domain values are written in responses, callbacks and headers."""
