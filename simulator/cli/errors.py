"""How a verb ends that could not do its work, beside click's own errors."""

from typing import ClassVar

import click


class CannotStart(click.ClickException):
    """The start failed, or there was no answer; exit code 3."""

    exit_code: ClassVar[int] = 3


class Refused(click.ClickException):
    """The answer is no; exit code 1. `code` is that of the control API's error, if it said so."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code
