"""What entered a sandbox, written down so that it can enter another one."""
