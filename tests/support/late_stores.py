"""A store whose commits a test finishes by hand."""

from types import SimpleNamespace
from typing import Any


class LateStore:
    """A store whose commits are done when the test says so."""

    def __init__(self) -> None:
        self.requested: list[Any] = []
        self.writer = SimpleNamespace()

    def request_commit(self, on_commit: Any) -> None:
        self.requested.append(on_commit)
