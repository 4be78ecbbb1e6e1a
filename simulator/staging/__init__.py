"""Work with a real deployment of the service: check it, import an account, relay requests, record traffic."""
