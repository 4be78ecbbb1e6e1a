"""Records that are finished as bytes: nothing of them is an object until somebody asks."""
