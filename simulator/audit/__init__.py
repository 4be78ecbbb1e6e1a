"""The audit of a client's behaviour: what SPEC asks of a client, judged from what went over the wire alone."""
