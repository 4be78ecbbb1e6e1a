"""Output that cannot be written, such as to a full disk or to a pipe that nobody reads."""

import os
import sys
from typing import TextIO

import click


def give_up(stream: TextIO) -> None:
    """Discard what is buffered: writing it would fail again at the exit, and change the exit code."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def print_to_stderr(text: str) -> None:
    """Print a line; when stderr cannot be written, that changes neither what runs nor its exit code."""
    try:
        click.echo(text, err=True)
    except OSError:
        give_up(sys.stderr)
