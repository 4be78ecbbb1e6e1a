"""Indexes of secrets stay bounded, and never forget the latest ones."""

import pytest

from simulator import redaction
from simulator.domain.model.resellers import FORMER_MAX
from simulator.redaction import MASKED, FormerSecrets, Secrets, followed, redact
from tests.support.client import running

KEYS_PATH = "/sandboxes/default/resellers/RS001/api-keys"


def named(n: int) -> str:
    return f"secret-{n:06d}"


def test_at_least_the_latest_former_secrets_are_known_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "FORMER_MAX", 1_000)
    former = FormerSecrets()
    for n in range(0, 5_000, 70):
        former.add(map(named, range(n, n + 70)))
        for kept in range(max(0, n + 70 - 1_000), n + 70, 211):
            assert redact(named(kept), former.generations) == MASKED
        assert sum(len(index.known) for index in former.generations) < 2_070
    assert redact(named(0), former.generations) == named(0)


def test_an_overgrown_index_is_rebuilt_from_its_sources() -> None:
    index = Secrets(map(named, range(FORMER_MAX + 2)))
    assert len(followed(index, [named(0)]).known) == 1
    assert len(followed(Secrets([named(1)]), [named(0)]).known) == 2


def test_secrets_of_lives_before_are_known_however_many_the_sandbox_has_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redaction, "FORMER_MAX", 10)
    with running() as client:
        latest: str = client.sim("POST", KEYS_PATH).json["api_secret"]
        client.sim("POST", "/sandboxes/default/reset")
        for _ in range(30):
            client.sim("POST", KEYS_PATH)
            assert redact(latest, client.live.secrets) == MASKED
