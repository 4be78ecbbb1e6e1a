"""Recording of traffic between a client and the service as a scenario that replays it."""
