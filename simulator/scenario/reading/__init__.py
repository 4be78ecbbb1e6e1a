"""Parsing of a file or an object into a checked document with positions; independent of the sections."""
