"""Tokens of the control API: who may do what, over every operation of its contract, and the file that has them."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.contract.openapi import CONTROL, load
from simulator.control.access import BadTokens, Guard, TokenPermissions, parsed_tokens
from simulator.control.http import Unauthorized
from simulator.runtime import events
from simulator.runtime.lives import Life
from tests.support.client import Client, Response, running
from tests.support.following import Following

CONTROL_TOKEN = "the-control-token"
FILE = """
# who           role  token
dashboard       read  dashboard-token-0001
shop            full  shop-token-000000001 sandbox=mine
shop-screen     read  screen-token-0000001 sandbox=mine
"""
SECRET = {name: secret for name, _, secret, *_ in (line.split() for line in FILE.splitlines()[2:])}
BEARER = {"control": CONTROL_TOKEN, **SECRET}

OPEN, COMMON, LIST, MAKES, SERVER, READ = "open", "common", "list", "makes", "server", "read"
SECRETS, FULL, OWNER = "secrets", "full", "owner"
"""Open to all; equal for every caller; limited to the caller's own sandbox; allowed for that sandbox; of all sandboxes
together; below a sandbox, where SECRETS reads secrets; reserved for full tokens of the whole server."""

NEEDS = {
    "GET /_sim/health": OPEN,
    "GET /_sim/ready": OPEN,
    "GET /_sim/metrics": SERVER,
    "GET /openapi.json": OPEN,
    "GET /_sim/openapi.json": OPEN,
    "GET /_sim/assumptions": COMMON,
    "GET /_sim/scenario.schema.json": COMMON,
    "GET /_sim/scenarios": COMMON,
    "GET /_sim/scenarios/{name}": COMMON,
    "PUT /_sim/scenarios/{name}": OWNER,
    "POST /_sim/scenarios/check": MAKES,
    "GET /_sim/sandboxes": LIST,
    "GET /_sim/events": LIST,
    "POST /_sim/sandboxes": MAKES,
    "GET /_sim/sandboxes/{sandbox}": READ,
    "DELETE /_sim/sandboxes/{sandbox}": FULL,
    "POST /_sim/sandboxes/{sandbox}/reset": FULL,
    "GET /_sim/sandboxes/{sandbox}/marks": READ,
    "POST /_sim/sandboxes/{sandbox}/marks": FULL,
    "DELETE /_sim/sandboxes/{sandbox}/marks/{mark}": FULL,
    "POST /_sim/sandboxes/{sandbox}/rewind": FULL,
    "GET /_sim/sandboxes/{sandbox}/clock": READ,
    "PUT /_sim/sandboxes/{sandbox}/clock": FULL,
    "POST /_sim/sandboxes/{sandbox}/clock/advance": FULL,
    "DELETE /_sim/sandboxes/{sandbox}/clock/advance": FULL,
    "GET /_sim/sandboxes/{sandbox}/due": READ,
    "GET /_sim/sandboxes/{sandbox}/holds": READ,
    "POST /_sim/sandboxes/{sandbox}/holds/{name}/release": FULL,
    "GET /_sim/sandboxes/{sandbox}/rules": READ,
    "POST /_sim/sandboxes/{sandbox}/rules": FULL,
    "DELETE /_sim/sandboxes/{sandbox}/rules/{rule}": FULL,
    "GET /_sim/sandboxes/{sandbox}/magic": READ,
    "PUT /_sim/sandboxes/{sandbox}/network/{product}": FULL,
    "GET /_sim/sandboxes/{sandbox}/resellers": READ,
    "POST /_sim/sandboxes/{sandbox}/resellers": FULL,
    "POST /_sim/sandboxes/{sandbox}/resellers/{code}/deposits": FULL,
    "PATCH /_sim/sandboxes/{sandbox}/resellers/{code}/settings": FULL,
    "POST /_sim/sandboxes/{sandbox}/resellers/{code}/api-keys": FULL,
    "DELETE /_sim/sandboxes/{sandbox}/resellers/{code}/api-keys/{key}": FULL,
    "GET /_sim/sandboxes/{sandbox}/catalog": READ,
    "PATCH /_sim/sandboxes/{sandbox}/catalog/products/{code}": FULL,
    "PATCH /_sim/sandboxes/{sandbox}/catalog/categories/{id}": FULL,
    "PATCH /_sim/sandboxes/{sandbox}/catalog/groups/{id}": FULL,
    "POST /_sim/sandboxes/{sandbox}/explain": FULL,
    "GET /_sim/sandboxes/{sandbox}/requests": READ,
    "GET /_sim/sandboxes/{sandbox}/requests.har": READ,
    "GET /_sim/sandboxes/{sandbox}/requests/{n}.curl": READ,
    "GET /_sim/sandboxes/{sandbox}/requests/{n}": READ,
    "POST /_sim/sandboxes/{sandbox}/requests/{n}/replay": FULL,
    "GET /_sim/sandboxes/{sandbox}/transactions": READ,
    "GET /_sim/sandboxes/{sandbox}/transactions/{trxid}": READ,
    "POST /_sim/sandboxes/{sandbox}/transactions/{trxid}/callbacks": FULL,
    "GET /_sim/sandboxes/{sandbox}/figures": READ,
    "GET /_sim/sandboxes/{sandbox}/ledger": READ,
    "GET /_sim/sandboxes/{sandbox}/callbacks": READ,
    "GET /_sim/sandboxes/{sandbox}/deliveries": READ,
    "GET /_sim/sandboxes/{sandbox}/deliveries/{job}": READ,
    "POST /_sim/sandboxes/{sandbox}/deliveries/{job}/replay": FULL,
    "POST /_sim/sandboxes/{sandbox}/probes": FULL,
    "GET /_sim/sandboxes/{sandbox}/notifications": READ,
    "GET /_sim/sandboxes/{sandbox}/events": READ,
    "GET /_sim/sandboxes/{sandbox}/tape": SECRETS,
    "GET /_sim/sandboxes/{sandbox}/invariants": READ,
    "GET /_sim/sandboxes/{sandbox}/coverage": READ,
    "GET /_sim/sandboxes/{sandbox}/audit": READ,
    "GET /_sim/sandboxes/{sandbox}/expectations": READ,
    "GET /_sim/sandboxes/{sandbox}/inbox": READ,
    "GET /_sim/sandboxes/{sandbox}/inbox/{name}": READ,
    "PUT /_sim/sandboxes/{sandbox}/inbox/{name}": FULL,
    "DELETE /_sim/sandboxes/{sandbox}/inbox/{name}": FULL,
}
"""The permission of each operation, written by hand, so that a new operation needs a decision."""

NAMES = {
    "{n}": "1",
    "{job}": "1",
    "{name}": "default",
    "{product}": "RELOAD",
    "{code}": "RELOAD",
    "{id}": "1",
    "{rule}": "none",
    "{key}": "none",
    "{mark}": "none",
    "{trxid}": "none",
}


def operations() -> list[str]:
    methods = ("get", "put", "post", "delete", "patch")
    paths = load(CONTROL)["paths"]
    found = [f"{method.upper()} {path}" for path, item in paths.items() for method in item if method in methods]
    return [one for one in found if not one.partition(" ")[2].startswith("/_sim/inbox/")]


@pytest.fixture
def server() -> Iterator[Client]:
    with running() as client:
        client.app.use_tokens(CONTROL_TOKEN, parsed_tokens(FILE.encode()))
        for sandbox in ("mine", "other"):
            assert ask(client, "POST /_sim/sandboxes", "control", body={"id": sandbox}).status == 201
        client.pay(sandbox="mine")
        yield client


def ask(client: Client, operation: str, who: str | None, sandbox: str = "mine", **more: Any) -> Response:
    """Send a request with a token."""
    method, _, path = operation.partition(" ")
    for name, value in ({"{sandbox}": sandbox} | NAMES).items():
        path = path.replace(name, value)
    query = "timeout=0.05" if path.endswith("/events") else more.get("query", "")
    headers = {} if who is None else {"authorization": f"Bearer {BEARER.get(who, who)}"}
    content = client.encoded(more.get("body"))
    return client.send(method, path, query, content, {"host": "127.0.0.1:8080", **headers})


def tapes(client: Client) -> list[tuple[str, int, Life]]:
    return [(live.id, len(live.tape), live.life) for live in client.app.sandboxes]


def test_every_operation_of_the_contract_says_here_what_it_needs() -> None:
    assert sorted(NEEDS) == sorted(operations())


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "needs"), sorted(NEEDS.items()))
def test_every_operation_is_refused_to_unauthorized_callers_and_then_changes_nothing(
    server: Client, operation: str, needs: str
) -> None:
    before = tapes(server)
    refused = [(who, "mine", 401, "control_token_required") for who in (None, "wrong", "")] if needs != OPEN else []
    if needs in (FULL, MAKES):
        refused += [(who, "mine", 403, "read_only_token") for who in ("dashboard", "shop-screen")]
    if needs == SECRETS:
        refused += [(who, "mine", 403, "secrets_need_full") for who in ("dashboard", "shop-screen")]
    if needs in (FULL, READ, SECRETS):
        of_others = ("default", "other", "nobody")
        refused += [("shop", sandbox, 403, "other_sandbox") for sandbox in of_others]
    if needs == READ:
        refused += [("shop-screen", sandbox, 403, "other_sandbox") for sandbox in ("default", "other", "nobody")]
    if needs == SERVER:
        refused += [(who, "mine", 403, "other_sandbox") for who in ("shop", "shop-screen")]
    if needs == OWNER:
        refused += [("dashboard", "mine", 403, "read_only_token"), ("shop", "mine", 403, "other_sandbox")]
    for who, sandbox, status, code in refused:
        answer = ask(server, operation, who, sandbox)
        assert (answer.status, answer.json["error"]) == (status, code), (who, sandbox)
        assert ("www-authenticate" in answer.headers) == (status == 401)
    assert tapes(server) == before

    allowed = ["control", "shop", "shop-screen", "dashboard"]
    if needs in (FULL, MAKES, SECRETS):
        allowed = ["control", "shop"]
    elif needs == SERVER:
        allowed = ["control", "dashboard"]
    elif needs == OWNER:
        allowed = ["control"]
    for who in allowed:
        if operation == "POST /_sim/sandboxes" and who == "shop":
            continue  # its own: below
        answer = ask(server, operation, who)
        assert answer.status not in (401, 403), (who, answer.body)


def test_a_token_of_a_sandbox_gets_the_list_and_the_events_of_its_own(server: Client) -> None:
    client = server
    for who in ("shop", "shop-screen"):
        assert [one["id"] for one in ask(client, "GET /_sim/sandboxes", who).json["sandboxes"]] == ["mine"]
    assert len(ask(client, "GET /_sim/sandboxes", "dashboard").json["sandboxes"]) == 3
    client.pay("elsewhere", sandbox="other")
    query = "after=0"
    path = "/_sim/events"
    host = {"host": "127.0.0.1:8080"}
    mine, all_ = (
        client.send("GET", path, f"{query}&timeout=0.05", b"", host | {"authorization": f"Bearer {BEARER[who]}"})
        for who in ("shop", "dashboard")
    )
    assert (b"elsewhere" in mine.body, b"elsewhere" in all_.body) == (False, True)
    assert b'"sandbox":"mine"' in mine.body
    assert b'"sandbox":"other"' not in mine.body


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 403),
        ({"id": "another"}, 403),
        ({"id": "mine"}, 409),
        ({"id": "mine", "fork": {"of": "other"}}, 403),
        ({"id": "mine", "fork": {"of": "mine"}}, 409),
    ],
)
def test_a_token_of_a_sandbox_makes_no_other_one_and_no_copy_of_another(
    server: Client, body: dict[str, Any], status: int
) -> None:
    assert ask(server, "POST /_sim/sandboxes", "shop", body=body).status == status
    assert len(list(server.app.sandboxes)) == 3


def test_a_token_of_a_sandbox_recreates_its_own_sandbox(server: Client) -> None:
    assert ask(server, "DELETE /_sim/sandboxes/{sandbox}", "shop").status == 204
    assert ask(server, "GET /_sim/sandboxes/{sandbox}", "shop").status == 404
    assert ask(server, "GET /_sim/events", "shop").json["error"] == "no_sandbox_yet"
    assert ask(server, "POST /_sim/sandboxes", "shop", body={"id": "mine"}).status == 201


def test_a_token_that_only_reads_is_shown_no_secret_anywhere(server: Client) -> None:
    live = server.app.sandboxes.get("mine")
    secrets = [one.encode() for one in live.core.state.secrets]
    assert secrets
    seen = b""
    for operation, needs in NEEDS.items():
        if needs in (READ, LIST, SERVER):
            seen += ask(server, operation, "dashboard").body
    assert [one for one in secrets if one in seen] == []
    shown = ask(server, "GET /_sim/sandboxes/{sandbox}", "control").json["resellers"][0]
    hidden = ask(server, "GET /_sim/sandboxes/{sandbox}", "dashboard").json["resellers"][0]
    assert (hidden["api_secret"], hidden["password"]) == (None, None)
    assert {**hidden, "api_secret": shown["api_secret"], "password": shown["password"]} == shown


@pytest.mark.parametrize("query", ["", "secrets=shown"])
def test_a_tape_needs_a_full_token_since_it_has_tokens_that_are_valid(server: Client, query: str) -> None:
    """Secrets drawn from the seed have no stand-in."""
    login = {"username": "test_user_RS001", "password": "test_password_RS001"}
    token = server.call("POST", "/v2/token", login, sandbox="mine").json["AuthenticationResult"]["AccessToken"]
    answer = ask(server, "GET /_sim/sandboxes/{sandbox}/tape", "dashboard", query=query)
    assert (answer.status, answer.json["error"]) == (403, "secrets_need_full")
    answer = ask(server, "GET /_sim/sandboxes/{sandbox}/tape", "shop", query=query)
    assert answer.status == 200
    assert token.encode() in gzip.decompress(answer.body)


@pytest.mark.parametrize("query", ["", "secrets=shown"])
def test_no_tape_has_the_tokens_of_others(server: Client, query: str) -> None:
    answer = ask(server, "GET /_sim/sandboxes/{sandbox}/tape", "shop", query=query)
    assert answer.status == 200
    assert [one for one in BEARER.values() if one.encode() in gzip.decompress(answer.body)] == []


def test_a_token_that_came_to_a_sandbox_is_on_no_tape_of_it(server: Client) -> None:
    server.send("GET", "/s/mine/v2/balance", f"x={CONTROL_TOKEN}", b"", {"x-api-version": SECRET["dashboard"]})
    server.app.use_tokens("another-control-token", parsed_tokens(FILE.encode()))
    shown = ask(server, "GET /_sim/sandboxes/{sandbox}/tape", "shop", query="secrets=shown")
    assert (shown.status, shown.json["error"]) == (409, "cannot_show")
    masked = ask(server, "GET /_sim/sandboxes/{sandbox}/tape", "shop")
    assert masked.status == 200
    assert [one for one in BEARER.values() if one.encode() in gzip.decompress(masked.body)] == []


def test_a_file_of_scenarios_which_may_have_secrets_needs_a_full_token(tmp_path: Path) -> None:
    tmp_path.joinpath("own.yaml").write_text("scenario: own\nextends: default\n")
    with running(scenarios=tmp_path) as client:
        client.app.use_tokens(None, parsed_tokens(FILE.encode()))
        for who, status in (("dashboard", 403), ("shop-screen", 403), ("shop", 200)):
            asked = {"host": "127.0.0.1:8080", "authorization": f"Bearer {BEARER[who]}"}
            assert client.send("GET", "/_sim/scenarios/own.yaml", "", b"", asked).status == status


def test_a_refused_request_with_the_key_of_another_sandbox_is_not_in_the_journal_of_this_sandbox() -> None:
    with running() as client:
        made = client.sim("POST", "/sandboxes", {"id": "theirs", "credentials": "unique"}).json["resellers"][0]
        client.call("GET", "/v2/balance", key=made["api_key"], secret="d3Jvbmc=")
        assert [one["status"] for one in client.sim("GET", "/sandboxes/theirs/requests").json["requests"]] == [401]
        entry = "here full here-token-000000001 sandbox=default"
        client.app.use_tokens(None, parsed_tokens(entry.encode()))
        answer = ask(client, "POST /_sim/sandboxes/{sandbox}/requests/{n}/replay", entry.split()[2], "default")
        assert (answer.status, answer.json["error"]) == (404, "unknown_request")


@pytest.mark.parametrize("path", ["/events", "/sandboxes/mine/events"])
def test_the_open_stream_of_a_revoked_token_ends_without_further_events(server: Client, path: str) -> None:
    screen = SECRET["shop-screen"]
    later = {
        "taken back": FILE.replace(screen, "screen-token-0000002"),
        "of another sandbox": FILE.replace(f"{screen} sandbox=mine", f"{screen} sandbox=other"),
    }

    async def follow(changed: str) -> bytes:
        async with (
            Following(server, path, "heartbeat=60", screen) as theirs,
            Following(server, path, "heartbeat=60", SECRET["shop"]) as others,
        ):
            server.app.use_tokens(CONTROL_TOKEN, parsed_tokens(FILE.encode()))  # the same once more
            await server.acall("GET", "/v2/balance", sandbox="mine")
            await theirs.until('"n":')
            server.app.use_tokens(CONTROL_TOKEN, parsed_tokens(changed.encode()))
            await server.acall("GET", "/v2/catalog", sandbox="mine")
            await asyncio.wait_for(theirs.task, 10)
            await others.until("/v2/catalog")
            return theirs.body

    for what, changed in later.items():
        server.app.use_tokens(CONTROL_TOKEN, parsed_tokens(FILE.encode()))
        told = server.run(follow(changed))
        assert (b"/v2/balance" in told, b"/v2/catalog" in told) == (True, False), what


@pytest.mark.parametrize("later", ["screen-token-0000002", f"{SECRET['shop-screen']} sandbox=other"])
def test_a_waiting_client_gets_no_answer_after_its_token_is_revoked(server: Client, later: str) -> None:
    live = server.app.sandboxes.get("mine")
    changed = FILE.replace(f"{SECRET['shop-screen']} sandbox=mine", later)
    query = "path=/v2/catalog&wait_for=1&timeout=60"

    async def wait() -> list[Response]:
        polls = []
        for who in ("shop-screen", "shop"):
            asked = {"host": "127.0.0.1:8080", "authorization": f"Bearer {SECRET[who]}"}
            polls.append(asyncio.create_task(server.asend("GET", "/_sim/sandboxes/mine/requests", query, b"", asked)))
        for _ in range(3):
            await asyncio.sleep(0)
        assert live.waiting_room._count == len(polls)
        server.app.use_tokens(CONTROL_TOKEN, parsed_tokens(changed.encode()))
        await server.acall("GET", "/v2/catalog", sandbox="mine")
        return list(await asyncio.wait_for(asyncio.gather(*polls), 10))

    theirs, others = server.run(wait())
    assert (theirs.status, theirs.json["error"]) == (401, "control_token_required")
    assert b"/v2/catalog" not in theirs.body
    assert (others.status, len(others.json["requests"])) == (200, 1)


def test_one_token_leaves_streams_of_events_to_the_others(server: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "READERS_MAX", 2)
    answers: dict[str, Response] = {}

    async def follow() -> None:
        async with Following(server, "/events", "", SECRET["dashboard"]):
            for who in ("dashboard", "shop", "control"):
                asked = {"host": "127.0.0.1:8080", "authorization": f"Bearer {BEARER[who]}"}
                answers[who] = await server.asend("GET", "/_sim/events", "timeout=0", b"", asked)

    server.run(follow())
    assert {who: one.status for who, one in answers.items()} == {"dashboard": 429, "shop": 200, "control": 200}
    assert answers["dashboard"].json["error"] == "too_many_waiting"
    assert "the token 'dashboard' has 1 streams" in answers["dashboard"].json["message"]


def test_tokens_are_hidden_wherever_they_come(server: Client) -> None:
    """Also later and former secrets."""
    server.app.use_tokens("another-control-token", parsed_tokens(b"new read another-token-000001"))
    for token in (*BEARER.values(), "another-control-token", "another-token-000001"):
        server.send("GET", "/v2/balance", f"x={token}", b"", {"x-note": token})
    shown = ask(server, "GET /_sim/sandboxes/{sandbox}/requests", "another-token-000001", "default").body
    shown += ask(server, "GET /_sim/sandboxes/{sandbox}/requests/{n}", "another-token-000001", "default").body
    assert [one for one in (*BEARER.values(), "another-") if one.encode() in shown] == []
    assert ask(server, "GET /_sim/sandboxes", "control").status == 401


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "has no tokens"),
        ("# nothing\n\n", "has no tokens"),
        ("ci full", "line 1: write NAME read|full TOKEN"),
        ("ci full 0123456789abcdef sandbox=a more", "line 1: write NAME read|full TOKEN"),
        ("ci admin 0123456789abcdef", "line 1: write NAME read|full TOKEN"),
        ("ci full short", "line 1: write NAME read|full TOKEN"),
        ("ci full 0123456789abcde\x7f", "line 1: write NAME read|full TOKEN"),
        ("-ci full 0123456789abcdef", "line 1: write NAME read|full TOKEN"),
        ("c" * 65 + " full 0123456789abcdef", "line 1: write NAME read|full TOKEN"),
        ("ci full 0123456789abcdef shop", "line 1: write NAME read|full TOKEN"),
        ("ci full 0123456789abcdef sandbox=", "line 1: write NAME read|full TOKEN"),
        ("ci full 0123456789abcdef sandbox=a/b", "line 1: write NAME read|full TOKEN"),
        ("\nci full 0123456789abcdef\nci read 0123456789abcdeg", "line 3: the name ci is already used"),
        ("ci full 0123456789abcdef\ndi read 0123456789abcdef", "line 2: the token of di is already used"),
        ("ci full 0123456789abcdéf", "has characters other than ASCII"),
    ],
)
def test_a_file_of_tokens_that_cannot_be_used_says_where_and_repeats_no_token(text: str, wrong: str) -> None:
    with pytest.raises(BadTokens) as caught:
        parsed_tokens(text.encode())
    assert str(caught.value).startswith(wrong)
    assert "0123456789" not in str(caught.value)


def test_a_token_is_found_whichever_place_it_has() -> None:
    guard = Guard(None, (), parsed_tokens(FILE.encode()))
    for secret, access in (
        ("dashboard-token-0001", TokenPermissions("dashboard", "read")),
        ("screen-token-0000001", TokenPermissions("shop-screen", "read", "mine")),
    ):
        assert guard.access({"host": "localhost", "authorization": f"Bearer {secret}"}) == access
    for secret in ("", "dashboard-token-000", "x" * 20):
        with pytest.raises(Unauthorized):
            guard.access({"host": "localhost", "authorization": f"Bearer {secret}"})
