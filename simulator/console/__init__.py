"""Web pages: files that browsers load. They speak to the server by its HTTP APIs alone."""
