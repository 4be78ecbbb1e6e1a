"""Handlers of commands: functions that change the state, called by `Sandbox` alone."""
