"""Our HMAC against the standard library's."""

import hmac

from hypothesis import given
from hypothesis import strategies as st

from simulator.auth.keyed import hmac_sha256


@given(st.binary(max_size=200), st.binary(max_size=300))
def test_it_is_hmac_sha256(key: bytes, text: bytes) -> None:
    assert hmac_sha256(key)(text) == hmac.digest(key, text, "sha256")
    assert hmac_sha256(key)(text) == hmac.digest(key, text, "sha256"), "and again from the kept states"
