"""Other people's mock servers beside the simulator: what they answer to the same request, and how fast."""
