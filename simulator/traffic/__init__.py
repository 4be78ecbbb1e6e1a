"""What went over the wire between a client and the service, wherever it was seen: in the simulator or at a proxy."""
