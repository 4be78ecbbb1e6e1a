"""Repeatable randomness: each draw depends on the seed and on its purpose."""

from random import Random


def drawn_for(what: str, seed: int) -> Random:
    """Return the random generator of a purpose and a seed."""
    return Random(f"{what} of {seed}")  # noqa: S311  # it keeps no secret
