"""Seeded worlds around the real application: one process, no sockets, threads, real time or real randomness."""
