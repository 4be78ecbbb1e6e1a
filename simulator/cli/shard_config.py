"""`reseller-sim shard-config`: the configuration of HAProxy before several servers."""

from pathlib import Path

import click

from simulator.cli import completion
from simulator.cli.flags import file_option, own_option
from simulator.cli.output import echo
from simulator.cli.usage import CannotStart, Refused, ending_with_problems, title, verb
from simulator.shortened import whole_line
from simulator.whole_files import write_whole


@verb("shard-config")
@click.argument("servers", metavar="FILE | NAME=URL...", nargs=-1, required=True)
@own_option(
    "--listen",
    metavar="ADDRESS:PORT",
    default="127.0.0.1:8080",
    help="Where HAProxy listens; *:8080 for all addresses of the machine.",
)
@file_option(
    "--map",
    "map_file",
    help="Write into FILE which reseller has which API keys and users; the configuration then uses it.",
)
@own_option(
    "--scenario",
    metavar="SCENARIO",
    default="default",
    shell_complete=completion.scenarios,
    help="The scenario that the servers are started with.",
)
@click.pass_context
def shard_config_command(
    ctx: click.Context, /, servers: tuple[str, ...], listen: str, map_file: Path | None, scenario: str
) -> None:
    """Print the configuration of HAProxy for several servers.

    The servers come from a YAML file, such as
    `servers: {a: "http://127.0.0.1:8081", b: "http://127.0.0.1:8082"}`,
    or from NAME=URL arguments. A consistent hash selects the server of each sandbox, and of each reseller of the
    sandbox `default`. With --map, all API keys, users and tokens of a reseller have the same server; without it,
    each API key has its own. Exit code 1 means that the servers or the scenario cannot be used.

    \b
    Examples:
      reseller-sim shard-config shards.yaml > haproxy.cfg
      reseller-sim shard-config shards.yaml --listen '*:8080' --map resellers.map --scenario mine.yaml > haproxy.cfg
      reseller-sim shard-config a=http://10.0.0.1:8080 b=http://10.0.0.2:8080 > haproxy.cfg
    """
    if map_file is None and scenario != "default":
        raise click.UsageError("--scenario is read for --map FILE, which is missing", ctx)
    from simulator.shards.haproxy import BadSetting, configuration
    from simulator.shards.servers import BadServers, from_words

    try:
        text = configuration(from_words(servers), listen, "" if map_file is None else str(map_file.absolute()))
        if map_file is not None:
            write_whole(map_file, _map_of(scenario).encode())
    except (BadServers, BadSetting) as error:
        raise Refused(whole_line(f"{title()}: {error}")) from None
    except OSError as error:
        raise CannotStart(whole_line(f"{title()}: {map_file}: {error.strerror}")) from None
    echo(text.rstrip("\n"))


def _map_of(scenario: str) -> str:
    from simulator.scenario.library import load_scenario
    from simulator.shards.resellers import lines

    with ending_with_problems():
        return "".join(f"{line}\n" for line in lines(load_scenario(scenario).resellers))
