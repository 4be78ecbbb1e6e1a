"""`reseller-sim completion`: what lets a shell complete verbs, flags, scenarios, sandboxes and more."""

import click
from click.shell_completion import BashComplete, get_completion_class

from simulator.cli.flags import verb
from simulator.cli.output import echo

VARIABLE = "_RESELLER_SIM_COMPLETE"
ZSH_SECOND_LINE = "\n(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }\n"
SHELLS = ("bash", "zsh", "fish")


class Bash(BashComplete):
    """Without a look at the bash of this machine: the script is for that of its reader."""

    name = "bash"

    @staticmethod
    def _check_version() -> None:
        """Nothing: bash before 4.4 ignores what it does not know."""


@verb("completion")
@click.argument("shell", type=click.Choice(SHELLS))
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
    made = Bash if shell == "bash" else get_completion_class(shell)
    assert made is not None, shell
    program = ctx.find_root()
    script = made(program.command, {}, str(program.info_name), VARIABLE).source()
    if shell == "zsh":
        script = script.replace("\n", ZSH_SECOND_LINE, 1)  # the first is for files that compinit finds
    echo(script, nl=False)
