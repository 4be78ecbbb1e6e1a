"""Secrets are found by the names of members and parameters, however these are spelled."""

import pytest

from simulator.wire.named_secrets import named_secrets, named_with, without_named

BODIES = [
    b'{"username":"u","password":"hush-hush"}',
    b'{"a": {"b": [{"Password" : "hush-hush"}]}}',
    b'{"p\\u0061ssword":"hush-\\u0068ush"}',
    b'{"refresh_token":"hush-hush"',
    b'[{"AccessToken":"hush-hush","IdToken":"hush-hush"}]',
    b"password=hush-hush",
    b"username=u&p%61ssword=hush%2Dhush&x=1",
    b'{"secret":"hush-hush","x":"hush"}',
    b'{"webhookKey":"hush-hush","shared_key":"hush-hush","passphrase":"hush-hush","userPass":"hush-hush","code":"hush"}',
]


@pytest.mark.parametrize("body", BODIES)
def test_a_secret_is_hidden_and_told(body: bytes) -> None:
    assert set(named_secrets(body)) == {"hush-hush"}
    shown = without_named(body)
    assert b"hush-" not in shown
    assert b"%2D" not in shown
    assert b"(not shown)" in shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"password": 12345678, "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": ["x", "y"], "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": "a\\"b", "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": "cut', b'{"password": "(not shown)"'),
        (b'{"password": {"v": "x"}, "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": [["]", {"b": "}"}], 1], "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": [["cut", 1], "a": 1}', b'{"password": "(not shown)"'),
    ],
)
def test_other_values_are_hidden_whole(body: bytes, shown: bytes) -> None:
    assert without_named(body) == shown


@pytest.mark.parametrize(
    "body",
    [b"", b'{"refid":"password","x":"secret"}', b'{"secret":null}', b"xpassword=1", b'"password"', b'{"secrets":"x"}'],
)
def test_what_has_no_such_name_stays(body: bytes) -> None:
    assert (without_named(body), list(named_secrets(body))) == (body, [])


def test_a_long_run_of_quotes_takes_no_long_time() -> None:
    body = b'"password":"' + b"\\" * 200_001 + b'"password":' * 20_000
    assert without_named(body).startswith(b'"password":"(not shown)"')


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (b'{"password":"abc","a":"abc"}', b'{"password":"<abc>","a":"abc"}'),
        (b'{"password":"a\\x"}', b'{"password":[a.x]}'),
        (b'{"password":["abc",12,-1.5e3,true,null,bad]}', b'{"password":["<abc>",[12],-[1].[5]e[3],true,null,[bad]]}'),
        (b'{"password":{"v":"abc"}}', b'{"password":{"<v>":"<abc>"}}'),
        (b'{"password":12,"secret":false}', b'{"password":[12],"secret":false}'),
        (b"password=a+b%41&x=abc", b"password=%3Ca+bA%3E&x=abc"),
    ],
)
def test_what_is_hidden_can_be_replaced_part_by_part(body: bytes, made: bytes) -> None:
    def form(raw: bytes) -> bytes:
        return b"[" + raw.replace(b'"', b"").replace(b"\\", b".") + b"]"

    assert named_with(body, "<{}>".format, form) == made
