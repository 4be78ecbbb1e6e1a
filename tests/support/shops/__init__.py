"""Small shops, each a program of its own: a good one, and others with a mistake each."""
