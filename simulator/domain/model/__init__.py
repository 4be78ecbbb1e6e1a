"""What things are: values and their rules, which know nothing of a sandbox's state."""
