"""Named tuples made quickly. Their own constructor is a Python function around this one, and costs three times as much;
a payment makes half a dozen."""

made = tuple.__new__
