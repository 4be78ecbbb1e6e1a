"""The map of the proxy from API keys and users to resellers of the sandbox `default`, in HAProxy's format.

A token contains the code of its reseller. Keys and usernames do not, and a reseller may have several of each. None
contains a blank, in any scenario.
"""

from collections.abc import Iterable, Iterator

from simulator.domain.model.scenario import ResellerStart


def lines(resellers: Iterable[ResellerStart]) -> Iterator[str]:
    """Yield a line for each key, in any state, and for each user."""
    for one in resellers:
        yield from (f"key/{key.key} {one.code}" for key in one.keys)
        yield from (f"user/{user.username} {one.code}" for user in one.users)
