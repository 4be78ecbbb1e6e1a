"""What a refusal waits for: few HMACs, and nothing that the journal would tell otherwise."""

import json
from typing import Any

import pytest

from simulator.auth.autopsy import signatures
from simulator.auth.autopsy.report import autopsy
from simulator.auth.autopsy.reprinted import reprinted
from simulator.auth.autopsy.short import HMACS_MAX, short_search
from simulator.auth.diagnose import OWN_WORDS
from tests.support.mistaken_clients import BARE, CLIENTS, GET, POST, Mistaken, Request
from tests.support.signed_requests import facts, header

IN_HEADER = [one for one in CLIENTS if one.in_header]
FOUR_FORMS = Request(query="s=2&b=&s=1&c=&a=%2F&b=3&flag")
LONG = Request(query="&".join(f"key{n}=%20{n}" for n in range(400)))


@pytest.mark.parametrize(
    ("request_", "at_most"), [(BARE, 40), (POST, 45), (GET, 60), (Request(), 75), (FOUR_FORMS, HMACS_MAX), (LONG, 60)]
)
def test_a_refusal_that_nothing_explains_waits_for_few_hmacs(
    request_: Request, at_most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []
    is_equal = signatures.is_equal

    def counted(one: bytes, other: bytes) -> bool:
        compared.append(one)
        return is_equal(one, other)

    monkeypatch.setattr(signatures, "is_equal", counted)
    assert short_search(facts(request_, ""), b"d" * 32) == ()
    assert 0 < len(compared) <= at_most


@pytest.mark.parametrize("client", IN_HEADER, ids=[f"{at}-{one.id}" for at, one in enumerate(IN_HEADER)])
def test_the_header_says_what_the_journal_says(client: Mistaken) -> None:
    sent = client.sign()
    found = autopsy(facts(client.request, sent)).found
    assert header(client.request, sent) == " and ".join(one.sentence for one in found)


def test_what_names_something_of_the_request_is_looked_through_for_secrets() -> None:
    flagged = Mistaken("parameter-without-equals", {"query": lambda _: "b=2&flag"}, Request(query="flag&b=2"))
    assert header(flagged.request, flagged.sign()) not in OWN_WORDS
    assert header(POST, Mistaken("", {"key": lambda: b"nobody's"}, POST).sign()) in OWN_WORDS
    assert not any("{" in text for text in OWN_WORDS)


def as_printed(body: bytes, **how: Any) -> bytes:
    return json.dumps(json.loads(body), **how).encode()


@pytest.mark.parametrize(
    "body",
    [
        b'{"refid":"r/1","amount":10.5,"extras":{"a":[1,true,null,{}],"b":[]}}',
        '{"n":"\u00e9\u20ac\U0001f600","a":-1}'.encode(),
        b'{"n":"\\u00e9\\ud83d\\ude00 \\/\\n\\u001f"}',
        b"[ ]",
        b'"text"',
        b'{"amount":1e2,"x":0.1,"y":100000000000000000}',
    ],
)
def test_a_body_is_printed_as_json_prints_it(body: bytes) -> None:
    texts = {text for name, text in reprinted(body) if name == "body-serialised-again"}
    tight = (",", ":")
    ways: tuple[dict[str, Any], ...] = ({"separators": tight}, {}, {"indent": 2}, {"indent": 4})
    spellings = (True,) if body.isascii() and b"\\" not in body else (True, False)
    wanted = {as_printed(body, ensure_ascii=is_ascii, **how) for how in ways for is_ascii in spellings}
    wanted |= {
        text.replace(b"/", b"\\/")
        for text in (as_printed(body, ensure_ascii=one, separators=tight) for one in spellings)
    }
    assert texts == wanted


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"NaN", b"[" * 600, b"[" * 600 + b"]" * 600, b'{"a":"\\ud800"}'])
def test_what_is_no_json_or_nested_deeply_is_not_printed(body: bytes) -> None:
    assert list(reprinted(body)) == []
