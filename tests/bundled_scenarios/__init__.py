"""Every bundled scenario, played through the plain API under its own clock."""
