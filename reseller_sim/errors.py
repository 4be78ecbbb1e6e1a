"""What can go wrong between a test and the simulator."""

from typing import Any


class SimulatorError(Exception):
    """The control API refused a request: `status` of HTTP, `code`, the sentence `message`, `path`, the member of the
    request that it is about, or empty, and `problems` of a scenario or a rule, a line each."""

    def __init__(self, status: int, code: str, message: str, path: str = "", problems: tuple[str, ...] = ()) -> None:
        lines = [f"{message} ({status} {code}{f', at {path}' if path else ''})", *problems]
        super().__init__("\n  ".join(lines))
        self.status = status
        self.code = code
        self.message = message
        self.path = path
        self.problems = problems


class NotRunning(ConnectionError):
    """Nothing answers at the simulator's address; the text says what to start."""


class WrongAnswer(NotRunning):
    """What answers there is no simulator of this version; the text says which address, and what is wrong where."""


class NotStarted(Exception):
    """A simulator of its own could not start; the text is what it said on stderr."""


class NotIdle(AssertionError):
    """Something is always left to happen in the sandbox; the text says what. `report` is what `advance` returns."""

    def __init__(self, message: str, report: dict[str, Any]) -> None:
        super().__init__(message)
        self.report = report


class NoAnswer(ConnectionError):
    """A signed request got no complete response, because the connection ended or it took too long: its outcome is
    unknown."""
