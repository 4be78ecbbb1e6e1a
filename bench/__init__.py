"""How fast the simulator is, beside a bare server measured in the same run."""
