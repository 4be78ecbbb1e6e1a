"""A tape without the secrets that were given: they are nowhere on it, in no spelling, and it still replays."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from simulator.persistence.replay.rebuilding import nowhere, player_for
from simulator.persistence.replay.tape_reader import read_tapes
from simulator.persistence.replay.tape_redaction import StandIns, lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import LifeEnding
from tests.support.client import Client, running
from tests.support.replaying import play, play_whole

SECRET = base64.b64encode(b"the secret of a real account 001").decode()
PASSWORD = "a-pass/word+of&1=real%user"
SHORT = "x9!z"
HOOK_SECRET = "5ec2e7" * 10 + "abcd"
TOKEN = "hook-token-0123456789"
OTHER = "another-receivers-token-77"
CONTROL_TOKEN = "control-token-of-this-server"
SCENARIO: dict[str, Any] = {
    "resellers": [
        {
            "code": "RS001",
            "balance": "5000.00",
            "api_keys": [{"key": "rk_real_account", "secret": SECRET}],
            "users": [{"username": "real", "password": PASSWORD}, {"username": "short", "password": SHORT}],
            "callback": {"url": f"http://127.0.0.1:9/cb?token={TOKEN}", "method": "POST"},
            "balance_webhook": {"url": "inbox:hooks", "secret": HOOK_SECRET},
        }
    ],
}


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO, control_token=CONTROL_TOKEN) as one:
        one.key, one.secret = "rk_real_account", SECRET
        yield one


def sim(client: Client, method: str, path: str, body: Any = None) -> Any:
    return client.sim(method, path, body, authorization=f"Bearer {CONTROL_TOKEN}")


def everything_with_secrets(client: Client) -> None:
    client.pay("paid")
    assert client.call("GET", "/v2/balance", secret=base64.b64encode(b"x" * 32).decode()).status == 401
    assert client.call("GET", "/v2/catalog?product_code=RELOAD&is_active=true").status == 200
    for name, password in (("real", PASSWORD), ("short", SHORT), ("real", "wrong password")):
        form = f"username={name}&password={quote(password, safe='')}".encode()
        status = client.send(
            "POST", "/v2/token", "", form, {"content-type": "application/x-www-form-urlencoded"}
        ).status
        assert status == (401 if "wrong" in password else 200)
    answer = client.send(
        "POST", "/v2/token", "", json.dumps({"username": "short", "password": SHORT}).encode(),
        {"content-type": "application/json"},
    )  # fmt: skip
    token = answer.json["AuthenticationResult"]["IdToken"]
    assert client.send("GET", "/v2/catalog", "", b"", {"authorization": f"Bearer {token}"}).status == 200
    client.send("GET", "/v2/balance", "", b"", {"authorization": f"Bearer {SECRET}"})
    client.send("GET", "/v2/balance", "", b"", {"x-api-key": "rk_real_account", "x-sim-rule": CONTROL_TOKEN})
    address = quote(f"http://127.0.0.1:9/cb?api_key={OTHER}", safe="")
    assert client.call("POST", f"/v2/callback-url?url={address}&method=POST").status == 200
    client.call("POST", "/v2/callback-url?url=http%3A%2F%2Fuser%3Ahidden-password%40host.test%2F&method=POST")
    assert sim(client, "POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"}).status == 201
    added = {"code": "RS002", "api_keys": [{"key": "rk_second", "secret": base64.b64encode(b"y" * 32).decode()}]}
    sim(client, "POST", "/sandboxes/default/resellers", added)
    client.pay("second", remarks=f"my secret is {SECRET}")
    sim(client, "POST", "/sandboxes/default/clock/advance", {"until": "idle"})


def test_no_secret_is_on_the_tape_and_it_replays(client: Client) -> None:
    everything_with_secrets(client)
    lines = list(lines_without_secrets(take_tape(client.live), client.app.replayer))
    text = b"".join(lines).decode()
    for secret in (SECRET, PASSWORD, HOOK_SECRET, TOKEN, OTHER, CONTROL_TOKEN, "hidden-password"):
        for spelled in (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], quote(quote(secret, safe=""))):
            assert spelled not in text
    assert f"password={quote(SHORT)}" not in text
    assert f'"{SHORT}"' not in text
    assert f'\\"{SHORT}\\"' not in text
    (tape,) = read_tapes(lines)
    assert tape.head.masked
    player = player_for(tape.head, client.app.replayer, nowhere())
    assert play(player, tape.entries) is None
    assert [one.status for one in player.live.journal] == [one.status for one in client.live.journal]
    assert [one.error for one in player.live.journal] == [one.error for one in client.live.journal]
    assert len(player.live.core.state.transactions) == len(client.live.core.state.transactions)
    assert (
        player.live.core.state.resellers["RS001"].wallet.balance
        == client.live.core.state.resellers["RS001"].wallet.balance
    )


def test_secrets_stay_on_a_tape_that_is_asked_for_with_them(client: Client) -> None:
    everything_with_secrets(client)
    text = b"".join(tape_lines(take_tape(client.live))).decode()
    for secret in (SECRET, PASSWORD, SHORT, HOOK_SECRET, TOKEN, OTHER):
        assert json.dumps(secret)[1:-1] in text
    (tape,) = read_tapes(tape_lines(take_tape(client.live)))
    assert not tape.head.masked
    assert play(player_for(tape.head, client.app.replayer, nowhere()), tape.entries) is None


def test_public_values_stay_unchanged() -> None:
    with running() as client:
        client.pay("one")
        assert list(lines_without_secrets(take_tape(client.live), client.app.replayer)) == list(
            tape_lines(take_tape(client.live))
        )
        assert client.secret.encode() in b"".join(tape_lines(take_tape(client.live)))


def test_a_signature_on_a_masked_tape_has_its_original_verdict(client: Client) -> None:
    unsorted = client.signature("GET", "b=2&a=1", b"")
    assert client.send("GET", "/v2/balance", "a=1&b=2", b"", unsorted).status in (200, 401)
    assert client.call("GET", "/v2/balance", secret=base64.b64encode(SECRET.encode()).decode()).status == 401
    (tape,) = read_tapes(lines_without_secrets(take_tape(client.live), client.app.replayer))
    player = player_for(tape.head, client.app.replayer, nowhere())
    assert play(player, tape.entries) is None
    before = [(one.status, one.error, one.diagnosis) for one in client.live.journal]
    assert [(one.status, one.error, one.diagnosis) for one in player.live.journal] == before


@pytest.mark.parametrize("secret", [SECRET, "ab" * 32, PASSWORD, "é" * 9, "x" * 2000, "=" * 8, "m", "0", "ma"])
def test_a_stand_in_is_as_long_as_its_secret_and_differs(secret: str) -> None:
    made = StandIns()[secret]
    assert (len(made.encode()), made == secret) == (len(secret.encode()), False)
    if secret == SECRET:
        assert len(base64.b64decode(made, validate=True)) == 32


WORDS = (
    "real", "manual", "POST", "Processing", "Succesful", "percentage", "everyday", "owner@example.com", "request",
    "command", "attempt", "PassTime", "answered", "2026-11-23", "0123456789", "RELOAD", "default", "RS001",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_wrong_credential_that_is_also_a_word_of_the_tape_leaves_the_rest_unchanged(word: str) -> None:
    with running("default") as client:
        client.pay("paid")
        client.send("POST", "/v2/token", "", f"username=x&password={quote(word)}".encode(), FORM)
        client.send("GET", "/v2/balance", "", b"", {"x-auth-token": word})
        client.advance()
        lines = list(lines_without_secrets(take_tape(client.live), client.app.replayer))
        shown = list(tape_lines(take_tape(client.live)))
        assert b'"masked":true' in lines[0]
        assert len(lines) == len(shown)
        assert [one for one in lines[1:-1] if b"/v2/topup" in one] == [
            one for one in shown[1:-1] if b"/v2/topup" in one
        ]
        assert f"password={quote(word)}".encode() not in b"".join(lines)
        assert f'"x-auth-token","{word}"'.encode() not in b"".join(lines)
        (tape,) = read_tapes(lines)
        assert play(player_for(tape.head, client.app.replayer, nowhere()), tape.entries) is None


FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("name", ["token", "key", "sig", "auth", "code", "api_key", "apikey", "password"])
def test_a_parameter_that_is_a_credential_by_its_name_is_masked(name: str) -> None:
    with running("default") as client:
        client.send("GET", "/v2/balance", f"{name}=s3cret-of-theirs&page=1")
        text = b"".join(lines_without_secrets(take_tape(client.live), client.app.replayer))
        assert b"s3cret-of-theirs" not in text
        assert b"page=1" in text


ESCAPED = 'P4ss/w0rd"Long\\Enough'


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"username": "uu", "password": ESCAPED}),
        json.dumps({"username": "uu", "password": ESCAPED}).replace("/", "\\/"),
        json.dumps({"username": "uu", "password": ESCAPED}, ensure_ascii=False),
        json.dumps({"username": "uu", "remarks": ESCAPED}).replace("/", "\\/"),
    ],
)
def test_a_password_of_the_scenario_is_masked_however_json_escapes_it(body: str) -> None:
    reseller = {"code": "RS001", "balance": 10, "users": [{"username": "uu", "password": ESCAPED}]}
    with running({"resellers": [reseller]}) as client:
        client.send("POST", "/v2/token", "", body.encode(), {"content-type": "application/json"})
        text = b"".join(lines_without_secrets(take_tape(client.live), client.app.replayer)).decode()
        assert "w0rd" not in text


def test_a_password_that_is_also_an_account_is_replaced_only_where_it_is_a_password() -> None:
    reseller = {"code": "RS001", "balance": 100, "users": [{"username": "uu", "password": "0123456789"}]}
    with running({"resellers": [reseller | {"api_keys": [{"key": "kk", "secret": SECRET}]}]}) as client:
        client.key, client.secret = "kk", SECRET
        assert client.pay("paid").status == 200
        (tape,) = read_tapes(lines_without_secrets(take_tape(client.live), client.app.replayer))
        assert tape.head.scenario["resellers"][0]["users"][0]["password"] != "0123456789"
        player = player_for(tape.head, client.app.replayer, nowhere())
        assert play(player, tape.entries) is None
        assert player.live.core.state.transactions


def recorded(entry: Any) -> Any:
    """The record of the request of an entry."""
    return getattr(entry, "exchange", entry)


ENDINGS: dict[str, Any] = {
    "reset": ("POST", "/sandboxes/other/reset", None),
    "rewound": ("POST", "/sandboxes/other/rewind", {"n": 0}),
    "deleted": ("DELETE", "/sandboxes/other", None),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shows_secrets", [True, False])
def test_a_request_that_waits_when_its_life_ends_waits_still_on_its_tape(
    client: Client, ending: str, shows_secrets: bool
) -> None:
    other, lives = client.sandbox(SCENARIO, "other"), list[LiveSandbox]()
    client.app.sandboxes.on_ended = lambda live, _: lives.append(live.frozen_copy())
    client.call("GET", "/v2/balance", sandbox="other")

    async def end() -> None:
        method, path, body = ENDINGS[ending]
        assert (await client.asim(method, path, body, authorization=f"Bearer {CONTROL_TOKEN}")).status in (200, 204)

    body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
    answer = client.run(client.acall("POST", "/v2/topup", body, sandbox="other", before_body=end))
    assert answer.status == (404 if ending == "deleted" else 409)
    (life,) = lives
    assert life is not other
    tape, again = take_tape(life), client.app.replayer  # later than it was answered, as when many lives end
    (read,) = read_tapes(tape_lines(tape) if shows_secrets else lines_without_secrets(tape, again))
    assert [recorded(one).n for one in read.entries] == [1, 0]
    assert play_whole(player_for(read.head, again, nowhere()), read) is None


def test_a_request_that_waits_when_its_tape_gets_full_waits_still_on_it() -> None:
    with running(SCENARIO | {"limits": {"tape": 2}}) as client:
        client.key, client.secret = "rk_real_account", SECRET
        client.call("GET", "/v2/balance")

        async def another() -> None:
            await client.acall("GET", "/v2/balance")

        body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
        assert client.run(client.acall("POST", "/v2/topup", body, before_body=another)).status == 200
        tape = take_tape(client.live)
        for lines in (tape_lines(tape), lines_without_secrets(tape, client.app.replayer)):
            (read,) = read_tapes(lines)
            assert [recorded(one).n for one in read.entries] == [1, 0]
            assert read.end is not None
            assert read.end.left_out == 2
            assert play_whole(player_for(read.head, client.app.replayer, nowhere()), read) is None


@pytest.mark.parametrize("ended", ["deleted", "reset", "rewound"])
def test_a_masked_tape_says_what_ended_it(ended: LifeEnding) -> None:
    users = [{"username": "real", "password": "rewound"}, {"username": "other", "password": "a-long-password"}]
    with running({"resellers": [{"code": "RS001", "users": users}]}) as client:
        client.call("GET", "/v2/balance")
        (read,) = read_tapes(lines_without_secrets(take_tape(client.live, ended=ended), client.app.replayer))
    assert read.end is not None
    assert read.end.ended == ended
