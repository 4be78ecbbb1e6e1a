"""Small shops that sell what the service sells: a good one, and six with a mistake each. Each is a program of its own."""
