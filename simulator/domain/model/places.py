"""Where something of a scenario is written."""

from typing import Literal

import msgspec


class Place(msgspec.Struct, frozen=True):
    """Where a statement or a rule is written: a file and a line, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Origin(msgspec.Struct, frozen=True):
    """What a scenario was read from, as another file extends it: a bundled scenario, a file of the folder of
    `--scenarios`, named by its path in it, or any other file, named as one beside it."""

    source: Literal["bundled", "folder", "file"]
    name: str
