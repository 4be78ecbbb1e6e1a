"""Clients that send something else than they signed, as libraries, languages and gateways do it: each is named."""

import gzip
import json
import zlib
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, urlencode

import pytest

from simulator.auth.autopsy import search
from simulator.auth.autopsy.report import autopsy
from simulator.auth.autopsy.signing_steps import Makes, Signing
from simulator.contract.endpoints import endpoints
from tests.support.mistaken_clients import Request, Signer, sha256
from tests.support.signed_requests import agrees, facts, header

SHORT: dict[str, Any] = {"refid": "a1795250017.5", "product": "RELOAD", "account": "0123456789", "amount": 10}
ORDER = SHORT | {"remarks": "Kedai Caf\u00e9 <A&B> 'q' 5+5=10"}
NESTED = SHORT | {"extras": {"ref2": "x y", "ic_number": "900101145555"}}
TIGHT = json.dumps(ORDER, ensure_ascii=False, separators=(",", ":"))
FLAT = TIGHT.encode()


def small(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def escaped(signs: str, text: str = TIGHT, *, is_upper: bool = True) -> bytes:
    for sign in signs:
        text = text.replace(sign, f"\\u{ord(sign):04X}" if is_upper else f"\\u{ord(sign):04x}")
    return text.encode()


def picked(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value[name] for name in names}


def parts_of(value: dict[str, Any]) -> bytes:
    each = (f'--xyz\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{one}\r\n' for name, one in value.items())
    return "".join(each).encode() + b"--xyz--\r\n"


def php(value: dict[str, Any]) -> bytes:
    return small(value).replace(b"/", b"\\/")


AS_FORM = [
    (urlencode(ORDER).encode(), json.dumps(ORDER).encode()),
    (urlencode(ORDER).encode(), php(ORDER)),
    (urlencode(SHORT).encode(), small(SHORT)),
    (urlencode(ORDER, quote_via=quote).encode(), json.dumps(ORDER).encode()),
    (urlencode(SHORT).encode(), small(SHORT | {"amount": "10"})),
    (urlencode(SHORT | {"amount": "10.50"}).encode(), small(SHORT | {"amount": "10.50"})),
    (urlencode(SHORT | {"amount": 10.5}).encode(), small(SHORT | {"amount": 10.5})),
    (b"enabled=True", b'{"enabled": true}'),
]  # fmt: skip
COMPRESSED = [(gzip.compress(FLAT, mtime=0), FLAT), (zlib.compress(FLAT), FLAT)]
CURLY = TIGHT.replace("'q'", "\u2019")
CHARSETS = [
    (TIGHT.encode("latin-1"), FLAT),
    (CURLY.encode("cp1252"), CURLY.encode()),
    (TIGHT.encode("utf-16"), FLAT),
    (TIGHT.encode("utf-16-le"), FLAT),
    (FLAT.decode("latin-1").encode(), FLAT),
]
LOST = [
    *((text.encode("ascii", "replace"), text.encode()) for text in (
        TIGHT, TIGHT.replace("Kedai", "K\u00e9dai"), TIGHT.replace("\u00e9", "\u2013"),
        json.dumps(ORDER, ensure_ascii=False))),
    *((text.encode("ascii", "replace"), text.encode()) for text in (
        TIGHT.replace("Kedai", "\u00fc\u00fcK\u00fc").replace("\u00e9", "\u00fc"),)),
    (TIGHT.replace("\u00e9", "\ufffd").encode(), FLAT),
]  # fmt: skip
NET, GSON = escaped("<>&'+\u00e9"), escaped("<>&'=", is_upper=False)
LINE = SHORT | {"remarks": "a\u2028b"}
SMILE = SHORT | {"remarks": "\U0001f600 ok"}
ENCODERS = [
    *((FLAT, signed) for signed in (
        NET, escaped("<>&", is_upper=False), escaped("<>&'+\u00e9", json.dumps(ORDER, ensure_ascii=False, indent=2)))),
    (NET, FLAT),
    (GSON, FLAT),
    (GSON, NET),
    (small(LINE).replace(b"\\u2028", "\u2028".encode()), small(LINE)),
    (small(SMILE), json.dumps(SMILE, ensure_ascii=False).encode()),
    (json.dumps(SMILE, ensure_ascii=False).encode(), small(SMILE)),
]  # fmt: skip
FORMS = [
    (FLAT, normalize("NFD", TIGHT).encode()),
    (normalize("NFD", TIGHT).encode(), FLAT),
]
NOT_SENT = [
    *((small(SHORT), small(signed)) for signed in (
        SHORT | {"remarks": None}, SHORT | {"extras": {}}, SHORT | {"remarks": ""}, {"extras": None} | SHORT,
        picked(SHORT, "refid") | {"remarks": None} | SHORT, SHORT | {"remarks": None, "extras": None},
        SHORT | {"extras": None, "remarks": None})),
    (json.dumps(SHORT).encode(), json.dumps(SHORT | {"remarks": None}).encode()),
]  # fmt: skip
NOT_SIGNED = [
    (small(SHORT | {"remarks": None}), small(SHORT)),
    (small(SHORT | {"extras": {}, "remarks": ""}), small(SHORT)),
]
LARGE = NESTED | {"remarks": "x"}
ORDERS = [
    (small(SHORT), small(picked(SHORT, "amount", "product", "account", "refid"))),
    (small(ORDER), small(picked(ORDER, "product", "refid", "amount", "remarks", "account"))),
    (json.dumps(SHORT).encode(), json.dumps(picked(SHORT, "product", "amount", "account", "refid")).encode()),
    (small(LARGE), small(picked(LARGE, "extras", "refid", "amount", "remarks", "product", "account"))),
]
VALUES_OF_BODY = [
    (b"null", b'""'), (b'""', b"null"), (b"{}", b"[]"), (b'"true"', b"true"), (b'"10.00"', b"10"),
    (b'"10.50"', b"10.50"),
]  # fmt: skip
PRINTED = [
    "{" + ", ".join(f"{name}={value}" for name, value in SHORT.items()) + "}",
    str(SHORT),
    str(small(SHORT)),
]
BODIES = [
    *(("body-form-sent", *one) for one in AS_FORM),
    *(("body-compressed", *one) for one in COMPRESSED),
    *(("body-sent-in-other-charset", *one) for one in CHARSETS),
    *(("body-letters-lost", *one) for one in LOST),
    *(("body-serialised-again", *one) for one in ENCODERS),
    *(("body-normalized", *one) for one in FORMS),
    *(("body-member-not-sent", *one) for one in NOT_SENT),
    *(("body-absent-members", *one) for one in NOT_SIGNED),
    *(("body-reordered", *one) for one in ORDERS),
    ("body-encoded-twice", small(TIGHT), FLAT),
    ("body-other-charset", FLAT, FLAT.decode("latin-1").encode()),
    ("body-byte-order-mark", b"\xef\xbb\xbf" + FLAT, FLAT),
    *(
        ("body-numbers-rewritten", b'{"a":%b,"b":"x"}' % sent, b'{"a":%b,"b":"x"}' % signed)
        for sent, signed in VALUES_OF_BODY
    ),
    *(("body-object-printed", small(SHORT), text.encode()) for text in PRINTED),
    ("body-member-added", small(ORDER), small(SHORT)),
]


def named(request: Request, signature: str, name: str) -> None:
    """One mistake alone is named, and the header does not contradict."""
    found = autopsy(facts(request, signature)).found
    assert [one.id for one in found] == [name]
    said = header(request, signature)
    assert agrees(said, found, request, signature), said


@pytest.mark.parametrize(("name", "sent", "signed"), BODIES, ids=[f"{at}-{one[0]}" for at, one in enumerate(BODIES)])
def test_a_body_that_was_sent_otherwise_than_signed_is_named(name: str, sent: bytes, signed: bytes) -> None:
    request = Request("POST", "/v2/topup", "", sent)
    named(request, Signer(hashed=lambda _: sha256(signed)).sign(request), name)


DAY = "date=2026-11-28&limit=5"
TWO = f"{DAY}&status=A&status=B"
LISTS = [
    (f"{DAY}&status%5B%5D=A&status%5B%5D=B", TWO),
    (TWO, f"{DAY}&status[]=A&status[]=B"),
    (TWO, f"{DAY}&status%5B%5D=A&status%5B%5D=B"),
    *((TWO, f"{DAY}&status={text}") for text in ("A,B", "A%2CB")),
    (f"{DAY}&status=A%2CB", TWO),
    (TWO, f"{DAY}&status[0]=A&status[1]=B"),
    (f"{DAY}&status[0]=A&status[1]=B", TWO),
    (f"{DAY}&status[]=B", f"{DAY}&status=B"),
]
ABSENT = [
    *((DAY, f"account={text}&{DAY}") for text in ("None", "null", "undefined", "")),
    (DAY, f"account=None&{DAY}&product=None"),
    ("limit=5", "account=None&limit=5&product=None&status=None"),
    ("", "account=None"),
    ("limit=5", "account=None&date=None&limit=5&offset=None&product=None&status=None"),
]
VALUES = [("debug=True", "debug=true"), ("debug=true", "debug=True"), ("debug=1", "debug=true"),
          ("debug=true", "debug=TRUE")]  # fmt: skip
LETTERS = [
    ("account=Caf%C3%A9", "account=Caf%E9"),
    ("account=Caf%E9", "account=Caf%C3%A9"),
]
QUERIES = [
    *(("query-list-otherwise", *one) for one in LISTS),
    *(("parameter-not-sent", *one) for one in ABSENT),
    *(("query-value-otherwise", *one) for one in VALUES),
    *(("query-other-charset", *one) for one in LETTERS),
    ("parameter-added", f"{DAY}&_=1795000000", DAY),
    ("parameter-added", f"{DAY}&_=1795000000&lang=en", DAY),
]


@pytest.mark.parametrize(("name", "sent", "signed"), QUERIES, ids=[f"{at}-{one[0]}" for at, one in enumerate(QUERIES)])
def test_a_query_that_was_sent_otherwise_than_signed_is_named(name: str, sent: str, signed: str) -> None:
    request = Request("GET", "/v2/transactions", sent, b"")
    named(request, Signer(query=lambda _: signed).sign(request), name)


def test_a_value_is_named_in_its_signed_form() -> None:
    request = Request("GET", "/v2/catalog", "is_active=true", b"")
    said = autopsy(facts(request, Signer(query=lambda _: "is_active=True").sign(request))).sentence
    assert said.startswith("a value of the query is signed as True or False, and sent differently")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"refid=1&extras=subproduct_code", "the body was sent as a form: the service reads JSON"),
        (parts_of({"extras": "subproduct_code"}), "the body was sent as a form: the service reads JSON"),
        (b"[object Object]", "the body that arrived is not JSON"),
        (b"<order><refid>1</refid></order>", "the body that arrived is not JSON"),
        (b"refid: 1\nproduct: RELOAD\n", "the body that arrived is not JSON"),
        (b'cb({"refid":"1"})', "the body that arrived is not JSON"),
        (b'{"refid":"1"', "the body that arrived is not JSON"),
        (b"", "no body arrived, although this path needs a body"),
    ],
)
def test_a_body_that_has_lost_what_was_signed_is_named_by_its_form(body: bytes, said: str) -> None:
    request = Request(body=body)
    sent = Signer(hashed=lambda _: sha256(b'{"refid":"1","extras":{"subproduct_code":"lost"}}')).sign(request)
    assert header(request, sent).startswith(said)
    assert autopsy(facts(request, sent)).sentence.startswith(said)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_an_absent_body_is_named_where_the_contract_has_one(method: str) -> None:
    paths = {one.path: bool(one.fields) and not one.query for one in endpoints() if one.method == method}
    for path, has_body in paths.items():
        request = Request(method, path.replace("{jobId}", "7"), "", b"")
        said = header(request, Signer(hashed=lambda _: sha256(b'{"lost":1}')).sign(request))
        assert said.startswith("no body arrived" if has_body and method != "GET" else "no common mistake"), path


@pytest.mark.parametrize("body", [b'<a b="c"/>', b"dGV4dA==", b'{"a": "b=c"}', b"\x1f\x8b=a"])
def test_a_body_that_is_no_form_is_not_called_a_form(body: bytes) -> None:
    request = Request(body=body)
    assert "form" not in header(request, Signer(hashed=lambda _: sha256(b"lost")).sign(request))


HOSTILE = [
    Request(body=small({f"n{at}": at for at in range(600)})),
    Request(body=small([{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}] * 150)),
    Request(body=small({f"n{at}": "x" * 100 for at in range(12)})),
    Request(body=b'{"n":' + b"9" * 6000 + b',"m":1e400,"x":0.' + b"1" * 900 + b"}"),
    Request(body=small({"remarks": "\u00e9<&'" * 900})),
    Request("GET", "/v2/transactions", "&".join(f"k{at}=[{at},b]" for at in range(400)), b""),
    Request("GET", "/v2/transactions", "&".join(["s=A%20,"] * 499), b""),
    Request("GET", "/v2/transactions", "%FF" * 1300, b""),
]


@pytest.mark.parametrize("request_", HOSTILE, ids=range(len(HOSTILE)))
def test_no_request_is_too_strange_for_the_header(request_: Request) -> None:
    assert header(request_, "v1=" + "A" * 43 + "=").startswith("no common mistake")


def test_the_texts_of_bodies_count_for_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    sign = Signing.string

    def note(self: Signing, makes: Makes) -> bytes:
        tried.append(1 + len(makes.get("body", b"")) // 1024)
        return sign(self, makes)

    monkeypatch.setattr(Signing, "string", note)
    monkeypatch.setattr(search, "HMACS_MAX", 1500)
    assert search.search(facts(HOSTILE[2], "v1=" + "A" * 43 + "=")) == (None, False)
    assert 900 < sum(tried[:-1]) <= 1500
