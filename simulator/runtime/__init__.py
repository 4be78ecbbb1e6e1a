"""Sandboxes at work: their clocks, the driver that delivers, the journal and the inbox."""
