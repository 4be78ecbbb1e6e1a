"""From a file or an object to a checked document with the positions of its problems; knows no section by name."""
