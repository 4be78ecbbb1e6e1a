"""Tests of the HTTP server's own layer, over loopback sockets."""
