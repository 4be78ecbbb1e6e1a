"""The model: values and their rules, independent of a sandbox's state."""
