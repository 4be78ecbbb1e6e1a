"""`reseller-sim completion`: what lets a shell complete verbs, flags, scenarios, sandboxes and more."""

from itertools import pairwise

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from simulator.cli.complete import VARIABLE
from simulator.cli.flags import verb
from simulator.cli.output import echo

ZSH_SECOND_LINE = "\n(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"


class Whole(ShellComplete):
    """For shells that take `--flag=value` for one word, which what they are offered has to begin with."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """What may stand there instead of the incomplete word."""
        flag, equals, _ = incomplete.partition("=")
        prefix = flag + equals if equals and flag.startswith("--") else ""
        found = super().get_completions(args, incomplete)
        return [CompletionItem(prefix + one.value, one.type, one.help) for one in found] if prefix else found


class Bash(BashComplete):
    """Without a look at the bash of this machine: the script is for that of its reader. It takes the equals sign of
    `--flag=value` for a word of its own, at which click would see a value."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the incomplete one, and that one."""
        args, incomplete = super().get_completion_args()
        before = ["", *args]
        kept = [word for flag, word in pairwise(before) if not (word == "=" and flag.startswith("--"))]
        return kept, incomplete

    @staticmethod
    def _check_version() -> None:
        """Nothing: bash before 4.4 ignores what it does not know."""


class Zsh(Whole, ZshComplete):
    """With a script that can also be evaluated where completion was not yet set up."""

    def source(self) -> str:
        """The script; its first line is for files that compinit finds."""
        return super().source().replace("\n", ZSH_SECOND_LINE, 1)


class Fish(Whole, FishComplete):
    """With a script that splits a line at its first comma only: descriptions and values have some of their own."""

    def source(self) -> str:
        """The script."""
        return super().source().replace('(string split "," ', '(string split -m 1 "," ')


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def use_own_classes() -> None:
    """Answer shells with the classes of this module; for when one asks."""
    for name, made in SHELLS.items():
        add_completion_class(made, name)


@verb("completion")
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
@click.pass_context
def command(ctx: click.Context, /, shell: str) -> None:
    """Print what completes this command in a shell.

    Let the start-up file of the shell read it. It completes verbs, flags, names of scenarios and YAML files, ids of
    assumptions; and what the simulator at --url has when it runs: sandboxes, rules, inboxes, payments.

    \b
    Examples:
      echo 'eval "$(reseller-sim completion bash)"' >> ~/.bashrc
      echo 'eval "$(reseller-sim completion zsh)"' >> ~/.zshrc
      reseller-sim completion fish > ~/.config/fish/completions/reseller-sim.fish
    """
    program = ctx.find_root()
    echo(SHELLS[shell](program.command, {}, str(program.info_name), VARIABLE).source(), nl=False)
