"""The service as a pure state machine: time comes in as an argument, network work goes out as a value."""
