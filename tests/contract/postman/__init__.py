"""The contract as collections of requests: what they hold, and what the command line refuses."""
