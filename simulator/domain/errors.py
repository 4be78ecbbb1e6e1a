"""Errors that the domain raises for invalid requests. Business refusals are values, not errors."""


class DomainError(Exception):
    """A domain error. `code` is stable and for machines, `message` for people; `path` locates it in the input."""

    def __init__(self, code: str, message: str, path: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path


class Unknown(DomainError):
    """The named object does not exist."""


class Conflict(DomainError):
    """The request conflicts with the current state."""


class Unacceptable(DomainError):
    """A value is invalid."""


class Busy(DomainError):
    """The maximum number of concurrent requests of this kind is reached."""


def refuse_more(name: str, count: int, count_max: int) -> None:
    """Raise `Conflict` when `count`, additions included, exceeds `limits.NAME` of the scenario."""
    if count > count_max:
        text = f"the sandbox would have {count} {name.replace('_', ' ')}; limits.{name} of its scenario is {count_max}"
        raise Conflict(f"too_many_{name}", text)
