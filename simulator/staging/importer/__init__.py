"""Import of a real account: reads its read-only endpoints, and writes an equivalent scenario."""
