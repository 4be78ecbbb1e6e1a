"""The reseller API: one way through for every request, one module per family of endpoints."""
