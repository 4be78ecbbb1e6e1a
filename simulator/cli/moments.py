"""The argument MOMENT of `rewind` and `fork`: a mark, a time of the sandbox, or a number of entries of its tape."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from simulator.cli import complete, values
from simulator.cli.flags import own_option

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
METAVAR = "MARK|ISO|N"
DIGITS_MAX = 18


def moment_flags(*, required: bool) -> Callable[[Decorated], Decorated]:
    """MOMENT, and a flag for marks that look like something else: `moment`, `is_mark`."""
    metavar = METAVAR if required else f"[{METAVAR}]"
    argument = click.argument("moment", metavar=metavar, required=required, shell_complete=complete.marks)
    flag = own_option(
        "--mark", "is_mark", is_flag=True, help="It is a mark, though its name looks like a number or a time."
    )

    def decorate(function: Decorated) -> Decorated:
        return argument(flag(function))

    return decorate


def moment_of(ctx: click.Context, text: str, *, is_mark: bool) -> dict[str, Any]:
    """What the control API is asked for: by its form a number, a time with its offset, or else the name of a mark."""
    if is_mark:
        return {"mark": text}
    if text.isascii() and text.isdigit():
        return {"n": int(text[:DIGITS_MAX])}
    if ":" in text:  # which no name of a mark has
        values.time(ctx, ctx.command.params[0], text)
        return {"to": text}  # as it was written, since milliseconds mean more than themselves
    return {"mark": text}
