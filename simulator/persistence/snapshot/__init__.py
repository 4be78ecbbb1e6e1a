"""The whole state of a sandbox at one place of its tape, as bytes, from which it goes on."""
