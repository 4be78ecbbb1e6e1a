"""Numbers as values of flags: what is no number is told so in words."""

import re
from typing import Any

import click

from simulator.cli.values import shown

_OF_A_SERVICE = re.compile(r"(?:tcp|udp|sctp)://\S+:\d+")


class Whole(click.IntRange):
    """A whole number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; what is none is a usage error."""
        _check(self, int, "whole number", value, param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


class Number(click.FloatRange):
    """A number within bounds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; what is none is a usage error."""
        _check(self, float, "number", value, param, ctx)
        number: float = super().convert(value, param, ctx)
        return number


def _check(
    bounds: click.IntRange | click.FloatRange,
    read: type[int] | type[float],
    what: str,
    value: Any,
    param: click.Parameter | None,
    ctx: click.Context | None,
) -> None:
    try:
        read(value)
    except ValueError:
        bounds.fail(f"{shown(str(value))} is no {what} {_of(bounds)}", param, ctx)


def _of(bounds: click.IntRange | click.FloatRange) -> str:
    """The bounds in words."""
    least = f"above {bounds.min}" if bounds.min_open else f"from {bounds.min}"
    return f"{least} on" if bounds.max is None else f"{least} to {bounds.max}"


class Port(click.Option):
    """A port, which a variable may set, but not one that Kubernetes makes."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """None for `tcp://10.0.0.1:8080`, which every container has beside a Service of our name, asked for or not."""
        text = super().resolve_envvar_value(ctx)
        return None if text is not None and _OF_A_SERVICE.fullmatch(text) else text
