"""The secrets of former lives: a tape on which they are replays without knowing them, and one without secrets has
none of them."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from simulator.cli.reports.run_tapes import RunTapes
from simulator.persistence.replay.tape_reader import read_file
from simulator.persistence.replay.tape_redaction import lines_without_secrets
from simulator.persistence.replay.tape_writer import take_tape
from simulator.redaction import MASKED
from tests.support.client import Client, running
from tests.support.data_folders import killed, serving
from tests.support.replaying import assert_replays, read_back, replayed

KEYS = "/sandboxes/default/resellers/RS001/api-keys"
GIVEN = base64.b64encode(b"the secret of a real account 009").decode()
WORD = "swordfishes"


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as one:
        yield one


def drawn_before_a_reset(client: Client) -> str:
    """A secret that the former life of the default sandbox has drawn."""
    secret: str = client.sim("POST", KEYS).json["api_secret"]
    client.sim("POST", "/sandboxes/default/reset")
    return secret


def send_everywhere(client: Client, secret: str) -> None:
    """Send a secret where answers, callbacks and diagnoses repeat it."""
    client.pay("in-remarks", remarks=f"my secret is {secret}")
    refused = client.pay("as-product", product=secret)
    assert (refused.status, refused.headers["x-sim-diagnosis"]) == (400, f"no product {MASKED}")
    client.call("GET", f"/v2/catalog?is_active={quote(secret, safe='')}")
    client.call("GET", "/v2/balance", headers={"X-More": base64.b64encode(f"user:{secret}".encode()).decode()})
    client.advance(60)


def test_former_secrets_that_a_replay_does_not_know_change_no_entry(client: Client) -> None:
    secret = drawn_before_a_reset(client)
    send_everywhere(client, secret)
    assert replayed(client.app, client.live)[1] is None
    for n in range(1, 6):
        assert secret.encode() not in client.sim("GET", f"/sandboxes/default/requests/{n}").body
    assert client.sim("POST", "/sandboxes/default/rewind", {"n": 3}).status == 200
    assert client.sim("POST", "/sandboxes", {"fork": {"of": "default"}}).status == 201


def test_secrets_of_the_sandbox_at_the_root_change_nothing_either(client: Client) -> None:
    own: str = client.sim("POST", KEYS).json["api_secret"]
    made = client.sim("POST", "/sandboxes", {"id": "other", "credentials": "unique"}).json["resellers"][0]
    refused = client.pay("as-product", product=own, key=made["api_key"], secret=made["api_secret"])
    assert refused.headers["x-sim-diagnosis"] == f"no product {own}", "it is no secret of this sandbox"
    assert replayed(client.app, client.app.sandboxes.get("other"))[1] is None


def test_a_data_folder_resumes_after_former_secrets_were_sent(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        send_everywhere(client, drawn_before_a_reset(client))
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert len(client.live.journal) == 4
        assert_replays(client.app)


def test_a_tape_without_secrets_has_no_former_secrets_and_replays(client: Client) -> None:
    secret = drawn_before_a_reset(client)
    send_everywhere(client, secret)
    core = secret.rstrip("=").encode()
    lines = b"".join(lines_without_secrets(take_tape(client.live), client.app.replayer))
    for spelled in (core, quote(core).encode(), base64.b64encode(b"user:" + core)[:40]):
        assert spelled not in lines
    assert lines.count(b"my secret is masked") > 0 or b"my secret is " in lines
    assert core not in client.sim("GET", "/sandboxes/default/tape").body
    assert_replays(client.app)
    shown = b"".join(repr(one).encode() for one in read_back(client.app, client.live, shows_secrets=True).entries)
    assert core in shown


def test_so_has_a_tape_of_exec(client: Client, tmp_path: Path) -> None:
    made = {"id": "first", "scenario": _with_secret(GIVEN)}
    client.sim("POST", "/sandboxes", made)
    client.sim("DELETE", "/sandboxes/first")
    client.pay("paid", remarks=f"my secret is {GIVEN}")
    tapes = RunTapes(tmp_path / "run.tape")
    tapes.replayer = client.app.replayer
    tapes.begin()
    tapes.add(client.live, client.live.clock.now(), "")
    tapes.end()
    (tape,) = read_file(tmp_path / "run.tape")
    assert tape.head.masked
    assert GIVEN.rstrip("=") not in repr(tape.entries)


def test_a_secret_that_the_same_seed_draws_again_is_replaced_in_what_was_sent(client: Client) -> None:
    before = drawn_before_a_reset(client)
    assert client.sim("POST", KEYS).json["api_secret"] == before
    client.pay("paid", remarks=f"my secret is {before}")
    assert before.rstrip("=") not in repr(read_back(client.app, client.live, shows_secrets=False).entries)
    assert_replays(client.app)


def test_words_of_former_lives_stay_since_they_may_belong_to_others(client: Client) -> None:
    client.sim("POST", "/sandboxes", {"id": "first", "scenario": _with_secret(GIVEN, password=WORD)})
    client.sim("DELETE", "/sandboxes/first")
    client.pay("paid", remarks=f"two {WORD}")
    assert not read_back(client.app, client.live, shows_secrets=False).head.masked


def _with_secret(secret: str, password: str = "a-password-of-1st") -> dict[str, Any]:  # noqa: S107
    users = [{"username": "real", "password": password}]
    key = {"key": "rk_real_account", "secret": secret}
    return {"extends": "default", "resellers": [{"code": "RS009", "balance": 5, "api_keys": [key], "users": users}]}
