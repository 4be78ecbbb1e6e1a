"""`reseller-sim proxy`: between a client and a deployment of the service, in the foreground, until it is stopped."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from simulator import __version__
from simulator.audit.clauses import as_json
from simulator.audit.client_traffic import Traffic
from simulator.audit.obligations import audited
from simulator.cli.flags import json_flag, option
from simulator.cli.output import printable_json
from simulator.cli.process import exit_quietly_when_stopped, hide_secrets, raise_file_limit
from simulator.cli.server_flags import other_server_flags, token_for
from simulator.cli.usage import CannotStart, notify, verb, wrong_usage
from simulator.cli.values import WILDCARDS, Span, TokenFile
from simulator.control.access import Guard
from simulator.options import CONTROL_PATH
from simulator.scenario.library import problems
from simulator.server.serve import CannotListen, make_server
from simulator.short_text import whole_line
from simulator.staging.proxy.proxy_app import CALLBACKS_PATH, Proxy, wall_clock
from simulator.staging.proxy.recording import Recording, UnusableScenario
from simulator.staging.proxy.secrets import SeenSecrets, Signatures
from simulator.staging.proxy.watcher import Watcher
from simulator.staging.recorder.recorder import TrafficRecorder
from simulator.staging.signed_requests import Address, CannotSign, parse_address, secret_bytes
from simulator.whole_files import refuse_other_than_file, write_whole
from simulator.wire.formats import encode

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
@json_flag(help="Print a line of JSON when the proxy is ready, and nothing else.")
def proxy_command(
    *,
    json: bool,
    upstream: Address,
    callbacks_to: Address | None,
    key: str | None,
    secret: str | None,
    record: Path | None,
    record_accounts: bool,
    timeout: float,
    host: str,
    port: int,
    control_token: str | None,
    control_token_file: TokenFile | None,
    allow_host: tuple[str, ...],
) -> None:
    """Requests, answers and callbacks pass unchanged. Journal, the story of each payment and every departure from the
    contract are at /_sim, as at the simulator. Ctrl-C or SIGTERM stops it, with exit code 0.
    """
    if (key is None) != (secret is None):
        raise wrong_usage("give both --key and --secret, or neither")
    token = (control_token if control_token_file is None else control_token_file.token) or token_for(host)
    exit_quietly_when_stopped()
    raise_file_limit()
    try:
        signatures = Signatures(key, None if secret is None else secret_bytes(secret))
    except CannotSign as wrong:
        raise wrong_usage(wrong) from None
    secrets = SeenSecrets([text for text in (secret, token) if text], [key] if key else [])
    hide_secrets(lambda: secrets.secrets)
    watcher = Watcher(signatures, secrets, callbacks_to.url if callbacks_to else "")
    guard = Guard(token, allow_host if host in WILDCARDS else (*allow_host, host))
    recording = None if record is None else _recording(record, watcher, names_accounts=record_accounts)
    proxy = Proxy(upstream, callbacks_to, watcher, guard, _audited, timeout, recording=recording)
    unwritable: list[OSError] = []

    def on_ready() -> None:
        facts = {
            "url": server.url,
            "upstream": upstream.url,
            "callbacks_url": server.url + CALLBACKS_PATH if callbacks_to else None,
            "callbacks_to": callbacks_to.url if callbacks_to else None,
            "control_url": server.url + CONTROL_PATH,
            "control_token": token,
        }
        try:
            click.echo(printable_json(encode(facts).decode()) if json else _banner(facts, record))
        except OSError as error:  # without the first line no user would learn the address
            unwritable.append(error)
            server.should_exit = True

    try:
        server = make_server(proxy, host, port, on_ready=on_ready, on_stop=proxy.end_waits)
    except CannotListen as error:
        raise CannotStart(error) from None
    server.run()
    if unwritable:
        raise unwritable[0]


def _audited(calls: Any, notifications: Any) -> dict[str, Any]:
    # Without notifications, callbacks may bypass the proxy, which then does not know what the client learned from them.
    return as_json(audited(Traffic(calls, notifications, until=wall_clock(), sees_callbacks=bool(notifications))))


def _recording(path: Path, watcher: Watcher, *, names_accounts: bool) -> Recording:
    """Return a recording of what the watcher sees. A file that cannot be written is a usage error."""
    try:
        refuse_other_than_file(path)
        is_writable = os.access(path.parent, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
    except OSError:
        is_writable = False
    if not is_writable:
        raise wrong_usage(f"--record {str(path)!r} cannot be written: name a file in a folder that you may write")
    recorder = TrafficRecorder(names_accounts=names_accounts)
    recording = Recording(recorder, path, watcher.secrets, _write_checked, notify)
    watcher.on_message = recording.note
    return recording


def _write_checked(path: Path, text: str) -> None:
    """Replace a scenario after `check` has accepted the new text. Raises `OSError`, and `UnusableScenario`."""

    def refuse_problems(written: Path) -> None:
        for problem in problems(written):
            raise UnusableScenario(f"{problem.path} {problem.code} {problem.message}".strip())

    write_whole(path, text.encode(), refuse_problems)


def _banner(facts: Mapping[str, str | None], record: Path | None) -> str:
    callbacks = f"{facts['callbacks_url']} passes them to {facts['callbacks_to']}"
    rows = [
        ("upstream", facts["upstream"]),
        ("callbacks", callbacks if facts["callbacks_to"] else "not passed on; --callbacks-to says where to"),
        ("control API", facts["control_url"]),
        ("", facts["control_token"] and f"Authorization: Bearer {facts['control_token']}"),
        ("recording", record and f"{record}, written every minute and at the end"),
    ]
    lines = [f"  {name:<11} {whole_line(text)}" for name, text in rows if text]
    return "\n".join([f"reseller-sim {__version__} passes requests on at {facts['url']}", "", *lines])
