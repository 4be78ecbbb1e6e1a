"""Small shops as programs: a good shop, and others with a mistake each."""
