"""docs/cli.md against the commands: it has every verb, flag and variable, and none that does not exist."""

import re
from pathlib import Path

import click
import pytest

from simulator.cli.main import VERBS, cli
from simulator.cli.usage import VARIABLES

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
SECTIONS = {title: text for title, _, text in (part.partition("\n") for part in PAGE.split("\n## ")[1:])}
ELSEWHERE = {"--help", "--version"}


def commands_of(verb: str) -> list[click.Command]:
    """The verb, and what may follow it."""
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    return [command, *(command.commands.values() if isinstance(command, click.Group) else ())]


def options_of(verb: str) -> list[click.Option]:
    return [one for command in commands_of(verb) for one in command.params if isinstance(one, click.Option)]


def test_every_verb_has_a_section_and_a_line_in_the_table() -> None:
    assert list(SECTIONS) == list(VERBS)
    for verb in VERBS:
        assert f"| [`{verb}`](#{verb}) |" in PAGE


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_has_every_flag_with_its_variable(verb: str) -> None:
    for option in options_of(verb):
        if option.name in ("output", "utc"):  # of most verbs, and said once
            continue
        for name in option.opts:
            assert f"`{name}" in SECTIONS[verb], f"{verb} {name}"
        if option.allow_from_autoenv:
            section = SECTIONS["serve"] + SECTIONS[verb] if verb in ("exec", "explore") else SECTIONS[verb]
            named = option.envvar[0] if isinstance(option.envvar, tuple) else f"{VARIABLES}_{str(option.name).upper()}"
            assert f"`{named}`" in section


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_has_no_flag_that_does_not_exist(verb: str) -> None:
    known = {name for option in options_of(verb) for name in (*option.opts, *option.secondary_opts)}
    named = set(re.findall(r"`(--?[a-z][a-z-]*)", SECTIONS[verb]))
    if verb == "exec":
        lacking = {option.opts[0] for option in options_of("serve")} - known
        assert lacking - {"scenario"} <= named  # said to be missing
        known |= lacking
    assert named <= known | ELSEWHERE


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_the_help_are_on_the_page(verb: str) -> None:
    for command in commands_of(verb):
        assert command.help is not None
        examples = [line.strip() for line in command.help.partition("Examples:")[2].splitlines() if line.strip()]
        assert examples
        assert [example for example in examples if example not in SECTIONS[verb]] == []


@pytest.mark.parametrize("variable", re.findall(r"RESELLER_\w+", SECTIONS["exec"]))
def test_the_variables_of_exec_are_in_its_help(variable: str) -> None:
    command = cli.get_command(click.Context(cli), "exec")
    assert command is not None
    assert variable in str(command.help)
