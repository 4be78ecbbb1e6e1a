"""Common code of the verbs: their declaration, their errors, and the messages about wrong usage."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import cleandoc
from os import environ
from typing import Any, ClassVar, Final, Self, cast

import click
from click.core import ParameterSource

from simulator.cli.output import print_to_stderr
from simulator.cli.verbs import VERBS
from simulator.short_text import whole_line

PROGRAM: Final = "reseller-sim"
VARIABLES: Final = "RESELLER_SIM"
INVALID: Final = "Invalid value for "
_SETTINGS: Final = {"auto_envvar_prefix": VARIABLES, "max_content_width": 100, "show_default": True}
Declaration = Callable[[Callable[..., Any]], click.Command]


def verb(name: str, *examples: str, **settings: Any) -> Declaration:
    """Return the decorator of a function that becomes a verb. Its help is the sentence of `VERBS`, the docstring, and
    examples: what follows the verb, or a line of a shell with `reseller-sim`."""
    return _declare(click.command, name, examples, name=name, **settings)


class VerbGroup(click.Group):
    """A verb with words of its own, such as `add` and `list`."""

    def word(self, name: str, *examples: str) -> Declaration:
        """Return the decorator of a function that becomes a word of the verb."""
        return _declare(self.command, f"{self.name} {name}", examples, name=name)


def verb_group(name: str, *examples: str) -> Callable[[Callable[..., Any]], VerbGroup]:
    """Return the decorator of a function that becomes a verb without words yet."""
    return _declare(click.group, name, examples, name=name, cls=VerbGroup)


def _declare(
    declare: Callable[..., Any], path: str, examples: tuple[str, ...], **settings: Any
) -> Callable[[Callable[..., Any]], Any]:
    lines = [example if PROGRAM in example else f"{PROGRAM} {path} {example}".rstrip() for example in examples]
    summary = VERBS[path].help if path in VERBS else ""

    def decorate(function: Callable[..., Any]) -> Any:
        parts = (summary, cleandoc(function.__doc__ or ""), "\n  ".join(["\b\nExamples:", *lines]))
        text = "\n\n".join(filter(None, parts))
        return declare(help=text, context_settings=_SETTINGS, **settings)(function)

    return decorate


def title() -> str:
    """Return the prefix of messages, such as `reseller-sim rule add`; only the program while a shell asks for
    completions."""
    context = click.get_current_context(silent=True)
    return " ".join([PROGRAM, *context.command_path.split()[1:]]) if context else PROGRAM


def with_title(text: object) -> str:
    """Return a text of any origin as a line that begins with the verb."""
    return whole_line(f"{title()}: {text}")


def notify(text: object) -> None:
    """Print a text to stderr as a line that begins with the verb."""
    print_to_stderr(with_title(text))


def wrong_usage(text: object) -> click.UsageError:
    """Return the error about wrong usage of the current verb; exit code 2."""
    return click.UsageError(str(text), click.get_current_context(silent=True))


class _Ending(click.ClickException):
    """An error whose message is `text` in a line that begins with the verb. `code` is the error code of the control
    API, if known."""

    def __init__(self, text: object, code: str = "", *, message: str = "") -> None:
        super().__init__(message or with_title(text))
        self.text = str(text)
        self.code = code

    @classmethod
    def of_problems(cls, problems: Iterable[object]) -> Self:
        """Return the error about problems of scenarios, a line each, which name their files themselves."""
        return cls("", message="\n".join(map(whole_line, problems)))


class CannotStart(_Ending):
    """The start failed, or there was no answer; exit code 3."""

    exit_code: ClassVar[int] = 3


class BadResult(_Ending):
    """The simulator refused, or the result is negative; exit code 1."""

    exit_code: ClassVar[int] = 1


@contextmanager
def ending_with_problems(end: type[_Ending] = BadResult) -> Iterator[None]:
    """Turn the problems of a scenario or a rule into an end of the verb."""
    from simulator.scenario.reading.nodes import ScenarioError

    try:
        yield
    except ScenarioError as error:
        raise end.of_problems(error.problems) from None


def read_yaml(text: str | bytes, source: str) -> Any:
    """Return the data of YAML or JSON. Raises `BadResult` for anything else."""
    from simulator.scenario.reading.yaml_parser import load_text

    with ending_with_problems():
        document = load_text(text, source)
    if document.problems:
        raise BadResult.of_problems(document.problems)
    return document.data


def text_of(wrong: click.UsageError) -> str:
    """Return the message in a line. If the value came from an environment variable, name the variable instead of the
    flag."""
    if isinstance(wrong, click.NoSuchOption):
        return f"{wrong.message}{_option_advice(wrong.option_name, wrong.ctx)}"
    text = " ".join(wrong.format_message().split())
    if "unexpected extra argument" in text and wrong.ctx and "--data" in _options(wrong.ctx):
        text += ". Put -d before a body."
    variable = _variable(wrong)
    return text.replace(INVALID, f"Invalid value of {variable}, for ", 1) if variable else text


def _option_advice(option: str, ctx: click.Context | None) -> str:
    from simulator.domain.model.likeness import nearest

    if option[1:].isdecimal():
        return " No verb takes a number below 0."
    if ctx is None:
        return ""
    if likely := nearest(option[2:], (name[2:] for name in _options(ctx))):
        return f" Did you mean '--{likely}'?"
    serve = cast(click.Group, ctx.find_root().command).get_command(ctx, "serve")
    is_of_serve = serve and option in _options(click.Context(serve)) and option != "--json"  # most verbs have that one
    return " It is an option of serve." if is_of_serve else ""


def _options(ctx: click.Context) -> list[str]:
    return [name for parameter in ctx.command.get_params(ctx) for name in parameter.opts if name.startswith("--")]


def _variable(wrong: click.UsageError) -> str | None:
    param, ctx = getattr(wrong, "param", None), wrong.ctx
    if not isinstance(param, click.Parameter) or param.name is None or ctx is None:
        return None
    if ctx.get_parameter_source(param.name) is not ParameterSource.ENVIRONMENT:
        return None
    names = [param.envvar] if isinstance(param.envvar, str) else [*(param.envvar or ())]
    return next((name for name in names if environ.get(name)), f"{ctx.auto_envvar_prefix}_{param.name}".upper())
