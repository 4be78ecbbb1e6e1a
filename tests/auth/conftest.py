"""What the searches for a mistake try."""

import pytest

from simulator.auth.autopsy import search
from simulator.auth.autopsy.signing_steps import Ways


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Each string that searches try from now on."""
    strings: list[bytes] = []
    sign = search.digest_of

    def note(secret: bytes, ways: Ways, text: bytes) -> bytes:
        strings.append(text)
        return sign(secret, ways, text)

    monkeypatch.setattr(search, "digest_of", note)
    return strings
