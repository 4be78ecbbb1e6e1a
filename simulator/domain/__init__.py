"""The service as a pure state machine: time is an argument, network work is returned as a value."""
