"""Signatures of webhooks, held against other people's words and code."""

import base64
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from simulator.domain.model.webhooks import Signature
from simulator.wire.webhook_signature import signed

SECRET = "c1" * 32
AT = datetime(2026, 11, 21, 4, 0, 0, 999_999, tzinfo=UTC)
BODY = '{"description":"ü"}'.encode()


def test_standard_webhooks_in_the_words_of_its_own_library() -> None:
    headers = dict(signed(Signature(), SECRET, "evt_1", AT, BODY))
    assert list(headers) == ["webhook-id", "webhook-timestamp", "webhook-signature"]
    assert headers["webhook-timestamp"] == str(int(AT.timestamp()))
    assert headers["webhook-signature"] == Webhook(bytes.fromhex(SECRET)).sign("evt_1", AT, BODY.decode())


def test_a_known_answer_of_the_standard() -> None:
    """The example of the Standard Webhooks documentation."""
    key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").hex()
    at = datetime.fromtimestamp(1614265330, UTC)
    headers = dict(signed(Signature(), key, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}'))
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (Signature("X-Sig"), ("X-Sig", "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8")),
        (
            Signature("X-Sig", "sha256=", "text"),
            ("X-Sig", "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"),
        ),
    ],
)
def test_a_plain_hmac_of_the_body(scheme: Signature, expected: tuple[str, str]) -> None:
    """The well-known value for the key `key`, where the secret's bytes or its characters are that."""
    secret = b"key".hex() if scheme.key == "bytes" else "key"
    text = b"The quick brown fox jumps over the lazy dog"
    assert signed(scheme, secret, "evt_1", AT, text) == (expected,)
