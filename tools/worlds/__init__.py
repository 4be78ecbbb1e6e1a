"""Run the real application in seeded worlds: one process, without sockets, threads, real time or real randomness."""
