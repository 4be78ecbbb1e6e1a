"""The output of `serve` once it answers: one line of JSON for programs, a page with a request to paste for people."""

import secrets
from shlex import quote
from typing import Any

from reseller_sim.formats import shown_time
from simulator import __version__
from simulator.cli.call import default_credentials
from simulator.cli.child import pasted
from simulator.cli.control import DEFAULT_URL
from simulator.cli.output import printable_json
from simulator.cli.server import BoundServer
from simulator.control.curl import curl_command
from simulator.control.render import moment
from simulator.control.web_pages import swagger_ui
from simulator.domain.model.resellers import Reseller
from simulator.options import CONTROL_PATH
from simulator.redaction import redact_urls
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.short_text import shortened, whole_line
from simulator.staging.signed_requests import Credentials, sign
from simulator.wire.formats import encode

# The payment in the request to paste, where the scenario sells it: an ordinary account, a common denomination.
EXAMPLE_PRODUCT, EXAMPLE_ACCOUNT, EXAMPLE_AMOUNT = "RELOAD", "0123456789", 10


def json_line(running: BoundServer) -> str:
    """`{"url", "sandbox", "control_token", "resellers"}`."""
    fields = {"url": running.url, "sandbox": running.app.sandboxes.default.id, "control_token": running.control_token}
    return printable_json(encode(fields | {"resellers": running.resellers()}).decode())


def log_line(running: BoundServer, *, shows_token: bool) -> str:
    """Return the banner as the first line of a log, with `kind` `ready`. Logs are stored and forwarded, so it has no
    secrets except a generated control token, which is shown nowhere else."""
    fields = {"kind": "ready", "version": __version__, "url": running.url, "sandbox": running.app.sandboxes.default.id}
    token = {"control_token": running.control_token} if shows_token and running.control_token is not None else {}
    return printable_json(encode(fields | token).decode())


def page(running: BoundServer) -> str:
    """Return the banner."""
    facts = [f"  {name:<11} {whole_line(text)}" for name, text in _facts(running)]
    return "\n".join([f"reseller-sim {__version__} answers at {running.url}", "", *facts, "", *_first_steps(running)])


def _facts(running: BoundServer) -> list[tuple[str, str]]:
    sandbox, control_url = running.app.sandboxes.default, running.url + CONTROL_PATH
    facts = [("console", f"{control_url}/"), ("control API", control_url)]
    if running.control_token is not None:
        facts.append(("", f"Authorization: Bearer {running.control_token}"))
    if (running.control_token is not None or running.app.tokens) and not running.app.options.public_callbacks_only:
        text = "--callbacks any: a reseller's key is enough to call addresses of this machine and its network"
        facts.append(("risk", text))
    if swagger_ui() is not None:
        facts.append(("API docs", f"{control_url}/docs"))
    facts.append(("sandbox", f"{sandbox.id}, scenario {sandbox.scenario.name!r}, seed {sandbox.seed}"))
    mode = f"x{sandbox.clock.rate:g}" if sandbox.clock.mode == "xN" else sandbox.clock.mode
    hint = "" if sandbox.clock.runs else f"; it moves with {_command(running, 'advance', 'idle')}"
    facts.append(("clock", f"{mode}, {shown_time(moment(sandbox.clock.now()) or '')}{hint}"))
    owner = next(iter(sandbox.core.state.resellers.values()), None)
    if owner is None:
        return [*facts, ("reseller", "none in this scenario; POST /_sim/sandboxes/default/resellers creates one")]
    shown = next(reseller for reseller in running.resellers() if reseller["code"] == owner.code)
    facts.append(("reseller", f"{owner.code}, balance {owner.wallet.balance:.2f} MYR"))
    if shown["api_key"]:
        facts += [("API key", shown["api_key"]), ("secret", shown["api_secret"])]
    if shown["username"]:
        facts.append(("user", f"{shown['username']}, password {shown['password']}"))
    facts += _callbacks(running, owner)
    mute = [row["code"] for row in running.resellers() if not row["api_key"] and not row["username"]]
    if mute:
        text = f"no client can call as {shortened(', '.join(mute))}: add api_keys or users to the scenario"
        facts.append(("warning", text))
    return facts


def _callbacks(running: BoundServer, owner: Reseller) -> list[tuple[str, str]]:
    target = owner.callback.url
    if not target:
        return [("callbacks", "none are sent; POST /v2/callback-url sets an address")]
    facts = [("callbacks", f"{owner.callback.method} {redact_urls(target)}")]
    if target.startswith("inbox:"):
        facts.append(("", _command(running, "inbox", quote(target.removeprefix("inbox:")))))
    return facts


def _command(running: BoundServer, *verb: str, credentials: Credentials | None = None) -> str:
    """Return a verb that asks this simulator, or with `credentials` a verb that calls the service."""
    words = [f"RESELLER_SIM_CA={quote(running.certificate)}"] if running.certificate else []
    words += [pasted(), *verb]
    if running.url != DEFAULT_URL:
        words += ["--url", running.url]
    if credentials is None and running.control_token is not None:
        words += ["--token", quote(running.control_token)]
    if credentials is not None and credentials != default_credentials():
        words += ["--key", credentials.key, "--secret", credentials.secret]
    return " ".join(words)


def _first_steps(running: BoundServer) -> list[str]:
    sandbox = running.app.sandboxes.default
    owner = next(iter(sandbox.core.state.resellers.values()), None)
    keys = [key for key in owner.keys if key.state == "active"] if owner else []
    if owner is None or not keys:
        return ["This scenario has no active API key, so there is no request to paste."]
    credentials = Credentials(keys[0].key, keys[0].secret)
    method, path, body = _example(sandbox, owner)
    now = int(sandbox.signing_time().timestamp())
    request = sign(method, running.url, path, body, credentials, now)
    curl = curl_command(request.method, request.url, request.headers, request.body)
    method, path, body = _example(sandbox, owner)
    following = [method, path, *(["-d", quote(body.decode())] if body else [])]
    return [
        "Paste this; its signature is valid for 5 minutes and one use:",
        "",
        curl.replace("curl ", f"curl --cacert {quote(running.certificate)} ", 1) if running.certificate else curl,
        "",
        "Sign and send the next request:",
        "",
        _command(running, "call", *following, credentials=credentials),
    ]


def _example(sandbox: LiveSandbox, owner: Reseller) -> tuple[str, str, bytes]:
    """Return a payment where the scenario sells the example product, else a balance query."""
    product = owner.sees(sandbox.scenario.catalog, EXAMPLE_PRODUCT)
    if product is None or not product.is_active:
        return "GET", "/v2/balance", b""
    payment: dict[str, Any] = {"refid": f"try-{secrets.token_hex(4)}", "product": EXAMPLE_PRODUCT}
    return "POST", "/v2/topup", encode(payment | {"account": EXAMPLE_ACCOUNT, "amount": EXAMPLE_AMOUNT})
