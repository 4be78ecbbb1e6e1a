"""The tape of a sandbox, which serializes its inputs for replays."""
