"""The reseller API: one pipeline for every request, one module per family of endpoints."""
