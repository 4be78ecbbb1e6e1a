"""The console in a real Chromium: what a person clicks and types, and what then stands on the screen."""
