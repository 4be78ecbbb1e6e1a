"""The map of the proxy: which reseller of the sandbox `default` an API key or a user belongs to, in HAProxy's format.

A token has the code of its reseller; a key and a username have not, and one reseller may have several of each. None of
them has a blank in it, in any scenario.
"""

from collections.abc import Iterable, Iterator

from simulator.domain.model.scenario import ResellerStart


def lines(resellers: Iterable[ResellerStart]) -> Iterator[str]:
    """A line for each key, whatever its state, and for each user."""
    for one in resellers:
        yield from (f"key/{key.key} {one.code}" for key in one.keys)
        yield from (f"user/{user.username} {one.code}" for user in one.users)
