"""What is said of a command that is used wrongly: the error of click, and the variable that it is about."""

from os import environ

import click
from click.core import ParameterSource

from simulator.cli.hints import of_former_output, of_unknown_flag

INVALID = "Invalid value for "


def text_of(wrong: click.UsageError) -> str:
    """One line; a value that a variable has is said to be the variable's, since nobody wrote the flag."""
    text = of_unknown_flag(wrong) or of_former_output(wrong) or " ".join(wrong.format_message().split())
    variable = _variable(wrong)
    return text.replace(INVALID, f"Invalid value of {variable}, for ", 1) if variable else text


def _variable(wrong: click.UsageError) -> str | None:
    param, ctx = getattr(wrong, "param", None), wrong.ctx
    if not isinstance(param, click.Parameter) or param.name is None or ctx is None:
        return None
    if ctx.get_parameter_source(param.name) is not ParameterSource.ENVIRONMENT:
        return None
    names = [param.envvar] if isinstance(param.envvar, str) else [*(param.envvar or ())]
    return next((name for name in names if environ.get(name)), f"{ctx.auto_envvar_prefix}_{param.name}".upper())
