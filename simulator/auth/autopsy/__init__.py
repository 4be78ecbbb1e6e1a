"""Why a signature does not match: known mistakes of clients, one alone or two of different places together."""
