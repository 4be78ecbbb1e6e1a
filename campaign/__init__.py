"""`make campaign`: what the simulator promises under load, floods, faults, races and for hours, tried and counted."""
