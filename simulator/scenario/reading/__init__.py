"""From a file or an object to a checked document with marks for its problems; knows no section by name."""
