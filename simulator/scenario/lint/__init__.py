"""What `check` finds beyond errors: parts of a scenario that load and never do what their author meant."""
