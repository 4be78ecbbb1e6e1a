"""What the searches for a mistake try."""

import pytest

from simulator.auth.autopsy.signing_steps import Makes, Signing


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Each string that searches try from now on."""
    strings: list[bytes] = []
    sign = Signing.string

    def note(self: Signing, makes: Makes) -> bytes:
        strings.append(sign(self, makes))
        return strings[-1]

    monkeypatch.setattr(Signing, "string", note)
    return strings
