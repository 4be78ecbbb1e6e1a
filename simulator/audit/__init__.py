"""The audit of a client's behaviour, judged by the obligations of SPEC and the traffic alone."""
