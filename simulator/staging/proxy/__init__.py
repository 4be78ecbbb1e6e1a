"""A proxy in front of a real deployment: relays traffic unchanged, records it, and reports departures from the
contract."""
