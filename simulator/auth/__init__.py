"""Who signed a request, and with what: pure functions of the request, the key and the time."""
