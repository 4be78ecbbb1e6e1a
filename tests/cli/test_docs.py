"""docs/cli.md and the help of the commands, which it is rendered from."""

from pathlib import Path

import click
import pytest

from simulator.cli.main import cli
from simulator.cli.verbs import VERBS
from tools.pages.command_line import EXAMPLES, as_markdown


def test_the_page_is_the_help_of_all_commands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
    assert page == as_markdown(), "run make docs"


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_command_has_examples(verb: str) -> None:
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    for each in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
        assert (each.help or "").partition(EXAMPLES)[2].strip()
