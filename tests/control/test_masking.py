"""What the journal hides: every value at the token endpoints but a few harmless ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.control.masking import masked_body, masked_query

PATH = "/v2/token"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", b""),
        (b'{"username":"ann","password":"p"}', b'{"username":"ann","password":"(not shown)"}'),
        (b'{"username":"ann","x":7,"y":null}', b'{"username":"ann","x":"(not shown)","y":null}'),
        (b'{"AuthenticationResult":{"IdToken":"t","ExpiresIn":3600}}',
         b'{"AuthenticationResult":{"IdToken":"(not shown)","ExpiresIn":3600}}'),
        (b"username=ann&password=p", b"username=ann&password=(not shown)"),
        (b"username=ann&p", b"(not shown)"),
        (b'{"password":"p"', b"(not shown)"),
        (b'{"password":"p=', b"(not shown)"),
        (b"username=ann&pass=p", b"(not shown)"),
        (b"refresh_token=t=t", b"refresh_token=(not shown)"),
        (b"password=a&password=b", b"password=(not shown)&password=(not shown)"),
        (b"username=a&" * 20 + b"username=b&password=p", b"(not shown)"),
        (b'["p"]', b"(not shown)"),
        (b"p", b"(not shown)"),
    ],
)  # fmt: skip
def test_a_body_of_a_token_endpoint_is_masked(body: bytes, shown: bytes) -> None:
    assert masked_body(PATH, body) == shown
    assert masked_body("/v2/topup", body) == body


def test_a_query_of_a_token_endpoint_is_masked() -> None:
    assert masked_query(PATH, b"username=ann&password=p") == b"username=ann&password=(not shown)"
    assert masked_query("/v2/topup", b"password=p") == b"password=p"


@given(body=st.binary(max_size=100))
def test_any_body_can_be_masked(body: bytes) -> None:
    masked_body(PATH, body)
    masked_query(PATH, body)
