"""A real deployment of the service, as its client: what is signed and sent to it, and how politely."""
