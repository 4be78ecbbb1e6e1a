"""What things are: values and their rules, independent of a sandbox's state."""
