"""What the simulator costs at scale: each figure beside its target, one process a subject."""
