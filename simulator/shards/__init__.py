"""Several servers as one: which of them has a sandbox, the proxy before them, and asking each other."""
