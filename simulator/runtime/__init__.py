"""Running sandboxes: clocks, the driver of deliveries, the journal and the inbox."""
