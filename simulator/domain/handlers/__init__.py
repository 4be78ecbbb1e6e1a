"""What happens: functions of the state, called by `Sandbox` alone."""
