"""Our image without a container engine."""
