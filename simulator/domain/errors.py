"""What the domain refuses by raising: requests that make no sense, not business refusals, which are values.

DomainError
 ├─ Unknown        something was named that does not exist
 ├─ Conflict       something is there already, or is busy
 └─ Unacceptable   a value that cannot be
"""


class DomainError(Exception):
    """`code` is stable and for machines, `message` is for people, `path` says where in the input."""

    def __init__(self, code: str, message: str, path: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.path = path


class Unknown(DomainError):
    """What was named does not exist."""


class Conflict(DomainError):
    """What is asked for collides with what is there."""


class Unacceptable(DomainError):
    """A value that cannot be accepted."""
