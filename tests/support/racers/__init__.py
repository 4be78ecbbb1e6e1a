"""Small shops with one race each, in Python and JavaScript; `mended` as an argument leaves the mistake out."""
