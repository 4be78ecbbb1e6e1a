"""Randomness that can be repeated: whatever is drawn is drawn from a seed and from what it is for."""

from random import Random


def drawn_for(what: str, seed: int) -> Random:
    """The draws for one purpose of one seed."""
    return Random(f"{what} of {seed}")  # noqa: S311  # it keeps no secret
