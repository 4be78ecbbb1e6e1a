"""`reseller-sim explain` names the mistake of every client, from flags and from a pasted curl command."""

import json
import shlex

import pytest
from click.testing import CliRunner

from simulator.cli.main import cli
from tests.support.mistaken_clients import CLIENTS, KEY, NONCE, NOW, OTHER_KEY, OTHER_SECRET, SECRET, Mistaken

# What a request does not show by itself: the nonce of the one before it, and secrets that only a simulator has.
UNSEEN = {"nonce-another", "secret-of-another", "secret-replaced"}
# Five of them, of different kinds; tests/auth tries each.
SAMPLE = CLIENTS[:: len(CLIENTS) // 5 + 1]
NAMES = [client.id for client in SAMPLE]


def url(client: Mistaken) -> str:
    request = client.request
    return f"http://sim.test/s/mine{request.path}" + (f"?{request.query}" if request.query else "")


def headers(client: Mistaken) -> list[str]:
    sent = {"X-Api-Key": KEY, "X-Timestamp": str(NOW), "X-Nonce": NONCE, "X-Signature": client.sign()}
    return [word for name, value in sent.items() for word in ("-H", f"{name}: {value}")]


def mistakes(*words: str, stdin: str | None = None) -> list[str]:
    """What the verb names."""
    said = CliRunner().invoke(cli, ["explain", "--at", str(NOW), "--secret", SECRET, "--json", *words], input=stdin)
    assert said.exit_code == 1, said.output
    found: list[str] = json.loads(said.stdout)["autopsy"]["mistakes"]
    return found


def named(client: Mistaken) -> list[str]:
    return [] if client.id in UNSEEN else [client.id]


@pytest.mark.parametrize("client", SAMPLE, ids=NAMES)
def test_flags_are_enough(client: Mistaken) -> None:
    body = ["-d", client.request.body.decode()] if client.request.body else []
    assert mistakes(client.request.method, url(client), *headers(client), *body) == named(client)


@pytest.mark.parametrize("client", SAMPLE, ids=NAMES)
def test_a_curl_command_is_enough(client: Mistaken) -> None:
    words = ["curl", "-sS", "-X", client.request.method, url(client), *headers(client)]
    words += ["--data-binary", client.request.body.decode()] if client.request.body else []
    assert mistakes("--", *words) == named(client)
    assert mistakes("-", stdin=shlex.join(words)) == named(client)


def test_the_secret_of_another_key_is_named_when_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {KEY: (SECRET, "ME"), OTHER_KEY: (OTHER_SECRET, "THEM")}
    monkeypatch.setattr("simulator.cli.explanation.known_locally", lambda: known)
    theirs = [one for one in CLIENTS if one.id == "secret-of-another"]
    assert theirs
    for client in theirs:
        body = client.request.body.decode()
        assert mistakes(client.request.method, url(client), *headers(client), "-d", body) == ["secret-of-another"]
