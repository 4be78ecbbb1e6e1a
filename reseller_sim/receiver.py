"""A real receiver of callbacks and webhooks on a loopback port."""
