"""`reseller-sim proxy`: the flags of a proxy between a client and a deployment of the service."""

from pathlib import Path
from typing import Any

import click

from simulator.cli.flags import json_flag, option
from simulator.cli.server_flags import other_server_flags, token_for
from simulator.cli.usage import verb, wrong_usage
from simulator.cli.values import Span, TokenFile
from simulator.staging.signing import parse_address

PROXY_PORT = 8090


@verb(
    "proxy",
    "--upstream https://staging.example.com --callbacks-to http://127.0.0.1:3000/callback",
    "--upstream https://staging.example.com --record seen.yaml",
)
@option(
    "--upstream",
    metavar="URL",
    required=True,
    parse=parse_address,
    help="The service's address, such as https://staging.example.com.",
)
@option("--callbacks-to", metavar="URL", parse=parse_address, help="The receiver of callbacks and webhooks.")
@option("--key", metavar="KEY", help="An API key whose signatures are to be checked.")
@option(
    "--secret",
    metavar="SECRET",
    help="The secret of the key, in Base64; better given as a variable. It only checks signatures.",
)
@option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Record the traffic as a scenario in this file: every minute, and at the end.",
)
@option(
    "--record-accounts/--no-record-accounts",
    default=True,
    help="Whether the file may contain account numbers on which outcomes depend.",
)
@option(
    "--timeout",
    type=Span(most_s=600),
    default="35s",
    help="How long the service may take; it gives up itself after 29 seconds.",
)
@other_server_flags(PROXY_PORT)
@json_flag(help="Print a line of JSON when it is ready, and nothing else.")
def proxy_command(
    json: bool, control_token: str | None, control_token_file: TokenFile | None, host: str, **flags: Any
) -> None:
    """Requests, answers and callbacks pass unchanged. Journal, the story of each payment and every departure from the
    contract are at /_sim, as at the simulator. Ctrl-C or SIGTERM stops it, with exit code 0.
    """
    from simulator.cli.proxy_server import serve

    if (flags["key"] is None) != (flags["secret"] is None):
        raise wrong_usage("give both --key and --secret, or neither")
    given = control_token if control_token_file is None else control_token_file.token
    serve(host=host, token=given or token_for(host), json=json, **flags)
