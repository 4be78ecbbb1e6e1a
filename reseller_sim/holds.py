"""A hold of a sandbox: answers and deliveries that rules keep until the test releases them."""

from typing import Any, Self

from reseller_sim.arguments import checked
from reseller_sim.control import Control, below
from reseller_sim.parameters import Count, Name, Seconds

__tracebackhide__ = True  # pytest shows the line of the test
BEYOND_S = 30.0  # the answer to a request that waits takes longer than the wait


class Hold:
    """What rules keep with `hold: NAME`, in the order in which it came. The end of `with` releases all of it."""

    @checked
    def __init__(self, control: Control, path: str, name: Name) -> None:
        self.name = name
        self._control = control
        self._path = path

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """What is held now."""
        return list(self._list({})["holds"])

    @checked
    def wait(self, n: Count = 1, *, timeout_s: Seconds = 10) -> list[dict[str, Any]]:
        """Return what is held as soon as `n` are. Raises `AssertionError` when that takes longer than `timeout_s`."""
        answer = self._list({"wait_for": n, "timeout": timeout_s})
        if not answer["complete"]:
            count = len(answer["holds"])
            raise AssertionError(f"{count} of {n} were held in {self.name!r} within {timeout_s:g} s")
        return list(answer["holds"])

    @checked
    def release(self, count: Count | None = None) -> int:
        """Let the first `count` go on, by default all; return how many those are."""
        body = {} if count is None else {"count": count}
        return int(self._control.ask("POST", below(self._path, "holds", self.name, "release"), body)["released"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"Hold({self.name!r})"

    def _list(self, query: dict[str, Any]) -> Any:
        timeout_s = query.get("timeout", 0) + BEYOND_S
        asked = {"name": self.name, **query}
        return self._control.ask("GET", below(self._path, "holds"), query=asked, timeout_s=timeout_s)
