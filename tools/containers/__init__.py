"""Build and run our image without a container engine."""
