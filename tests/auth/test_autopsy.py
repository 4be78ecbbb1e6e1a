"""Clients with a known mistake, or two: the autopsy names each, the header only mistakes by the owner of the key."""

import json
from base64 import b64decode, b64encode
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import combinations
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.auth.autopsy import body_mistakes, search
from simulator.auth.autopsy.report import IS_RIGHT, autopsy
from simulator.auth.autopsy.search import BY_ID, MISTAKES
from simulator.auth.autopsy.signing_steps import PLACES
from simulator.auth.canonical import QueryRules, body_hash, canonical_queries, canonical_string, signature
from simulator.auth.form import FIX
from tests.support.mistaken_clients import (
    BARE,
    CLIENTS,
    FRENCH,
    GET,
    NONCE,
    NOW,
    OTHER_SECRET,
    POST,
    SECRET,
    Mistaken,
    Request,
    Signer,
    body_as,
)
from tests.support.signed_requests import RULES, agrees, facts, header, sentence

# Mistakes about SPEC's open questions depend on choices of the sandbox; they are tested with the choices.
OF_CHOICES = {"repeated-keys-by-value", "repeated-keys-as-sent", "empty-values-in", "empty-values-out"}


def test_a_key_that_was_not_sent_is_not_part_of_the_string() -> None:
    unsigned = facts(GET, "v1=")
    sent = signature(unsigned.secret, autopsy(unsigned).string + b":")
    without_key = msgspec.structs.replace(facts(GET, sent), api_key=b"")
    assert [one.id for one in autopsy(without_key).found] == ["string-ends-otherwise"]


@pytest.mark.parametrize("client", CLIENTS, ids=[f"{at}-{one.id}" for at, one in enumerate(CLIENTS)])
def test_a_mistake_is_named(client: Mistaken) -> None:
    made = autopsy(facts(client.request, client.sign()))
    assert [one.id for one in made.found] == [client.id]
    assert not made.is_right
    assert made.sentence.startswith(BY_ID[client.id].does.partition("{")[0])
    assert made.fix == BY_ID[client.id].fix
    assert "{" not in made.sentence
    assert made.signed is not None
    assert [way.mistake.step for way in made.found] == [BY_ID[client.id].step]
    right = Signer()
    assert signature(b64decode(SECRET), made.string) == right.sign(client.request)


@pytest.mark.parametrize("client", CLIENTS, ids=[f"{at}-{one.id}" for at, one in enumerate(CLIENTS)])
def test_the_header_says_what_the_journal_says(client: Mistaken) -> None:
    sent = client.sign()
    said = header(client.request, sent)
    assert agrees(said, autopsy(facts(client.request, sent)).found, client.request, sent), said
    if client.id in WITHOUT_SECRET | {"nonce-another"}:
        assert said.startswith("no common mistake")


# Mistakes that a client can make without the key's secret.
WITHOUT_SECRET = {
    "secret-is-api-key", "secret-is-empty", "secret-is-literal", "secret-of-another", "secret-replaced",
    "hash-without-secret",
}  # fmt: skip


def test_the_header_names_each_common_mistake() -> None:
    common = {one.id for one in MISTAKES if one.common} - OF_CHOICES
    named = {
        client.id
        for client in CLIENTS
        if client.id in common
        and header(client.request, client.sign()) == sentence(autopsy(facts(client.request, client.sign())).found)
    }
    assert named == common


@pytest.mark.parametrize("request_", [Request(), POST, GET, BARE])
def test_a_refusal_waits_for_few_strings(request_: Request, tried: list[bytes]) -> None:
    assert header(request_, NOBODY).startswith("no common mistake")
    assert 20 < len(tried) <= 40


def test_a_refusal_for_a_wrong_form_waits_for_the_right_string_alone(tried: list[bytes]) -> None:
    assert "20 bytes" in header(POST, "v1=" + b64encode(b"\xfe" * 20).decode())
    assert tried == [f"v1:{NOW}:{NONCE}:POST::".encode() + body_hash(POST.body)]


@pytest.mark.parametrize(
    "steps",
    [{"query": lambda request: request.query}, {"hashed": body_as(json.dumps)}, {"join": lambda *_: b""}],
    ids=["query as sent", "body serialised again", "nothing"],
)
def test_the_header_does_not_contradict_the_journal_about_long_requests(steps: dict[str, Any]) -> None:
    request = Request(query="a=" + "x" * 3000 + "&flag", body=b'{"remarks":"' + b"x" * 3000 + b'"}')
    sent = Signer(**steps).sign(request)
    assert agrees(header(request, sent), autopsy(facts(request, sent)).found, request, sent)


def test_each_mistake_of_the_table_is_made_by_a_client() -> None:
    assert {one.id for one in CLIENTS} == set(BY_ID) - OF_CHOICES - {"timestamp-in-seconds"}
    assert len(BY_ID) == len(MISTAKES)


@pytest.mark.parametrize(
    ("rules", "query", "signed", "found"),
    [
        (QueryRules("sorted", "either"), "s=2&a=1&s=1", "a=1&s=2&s=1", ["repeated-keys-as-sent"]),
        (QueryRules("as_sent", "either"), "s=2&a=1&s=1", "a=1&s=1&s=2", ["repeated-keys-by-value"]),
        (QueryRules("either", "without"), "b=&a=1", "a=1&b=", ["empty-values-in"]),
        (QueryRules("either", "with"), "b=&a=1", "a=1", ["empty-values-out"]),
        (QueryRules("sorted", "without"), "s=2&b=&s=1", "b=&s=2&s=1", ["empty-values-in", "repeated-keys-as-sent"]),
    ],
)
def test_deviating_choices_of_the_sandbox_are_named(
    rules: QueryRules, query: str, signed: str, found: list[str]
) -> None:
    request = Request(query=query)
    sent = Signer(query=lambda _: signed).sign(request)
    assert [one.id for one in autopsy(facts(request, sent, rules)).found] == found
    assert len(found) > 1 or f"{BY_ID[found[0]].does}; {BY_ID[found[0]].fix}" in header(request, sent, rules)


QUESTION, NOT_SORTED, AS_SENT = "query-with-question-mark", "query-not-sorted", "query-as-sent"
WITHOUT, SORTED = QueryRules("either", "without"), QueryRules("sorted", "either")
TWICE_WRONG = [
    (RULES, "b=2&a=1", "?b=2&a=1", [QUESTION, NOT_SORTED]),
    (RULES, "a=1&b=2", "?a=1&b=2", [QUESTION]),
    (RULES, "x", "?x", [QUESTION, "parameter-without-equals"]),
    (RULES, "b=2&x&a=1", "?b=2&x&a=1", [QUESTION, AS_SENT]),
    (WITHOUT, "a=1&b=", "a=1&b", ["empty-values-in"]),
    (RULES, "a=1&b=", "a=1&b", ["empty-value-without-equals"]),
    (WITHOUT, "b=&a=1", "b=&a=1", ["empty-values-in", NOT_SORTED]),
    (WITHOUT, "c=3&b=&a=1", "c=3&a=1", [NOT_SORTED]),
    (RULES, "c=3&b=&a=1", "c=3&a=1", [NOT_SORTED]),
    (SORTED, "s=2&a=1&s=1", "s=2&a=1&s=1", [NOT_SORTED]),
    (SORTED, "s=2&a=1&s=1", "", ["query-left-out"]),
]


@pytest.mark.parametrize(("rules", "query", "signed", "found"), TWICE_WRONG)
def test_the_advice_for_a_query_mends_it_also_when_two_things_are_wrong(
    rules: QueryRules, query: str, signed: str, found: list[str]
) -> None:
    request = Request(query=query)
    sent = Signer(query=lambda _: signed).sign(request)
    made = autopsy(facts(request, sent, rules))
    assert [one.id for one in made.found] == found
    assert made.fix == "; ".join(BY_ID[name].fix for name in found)
    said = header(request, sent, rules)
    assert "no common mistake" in said or all(BY_ID[name].fix in said for name in found), said


@pytest.mark.parametrize("fraction", ["417", "000", "900"])
def test_seconds_in_the_string_are_named_when_milliseconds_are_sent(fraction: str) -> None:
    sent = Signer(timestamp=lambda: str(NOW)).sign(POST)
    made = autopsy(msgspec.structs.replace(facts(POST, sent), timestamp=f"{NOW}{fraction}".encode()))
    assert [one.id for one in made.found] == ["timestamp-in-seconds"]


def test_milliseconds_of_the_second_that_was_sent_are_found_when_the_journal_is_read() -> None:
    sent = Signer(timestamp=lambda: f"{NOW}999").sign(Request(query="a=1"))
    assert [one.id for one in autopsy(facts(Request(query="a=1"), sent)).found] == ["timestamp-in-milliseconds"]


@pytest.mark.parametrize(("count", "is_told"), [(21, False), (22, True), (42, True)])
def test_a_cut_signature_is_recognised_from_twenty_two_characters_on(count: int, is_told: bool) -> None:
    cut = Signer().sign(POST)[: len("v1=") + count]
    found = [one.id for one in autopsy(facts(POST, cut)).found]
    assert (found == ["signature-cut"]) == is_told, found


# A client of each place, with independent steps; both mistakes show in this request.
_PAIRED = {
    "nonce-in-lower-case", "method-in-lower-case", "query-not-sorted", "body-hash-hexadecimal", "line-feeds",
    "secret-not-decoded", "secret-of-another", "sha-1", "signature-hexadecimal", "signature-without-v1",
}  # fmt: skip
_FIRST = {one.id: one for one in reversed(CLIENTS) if one.request == Request() and one.id in _PAIRED}
PAIRS = [
    (one, other)
    for one, other in combinations(_FIRST.values(), 2)
    if PLACES[BY_ID[one.id].step] != PLACES[BY_ID[other.id].step] and not one.steps.keys() & other.steps.keys()
]


FORMS = ["AAAA", "A" * 60, "A" * 87 + "=", "A" * 43, "not Base64", "", "v1=v1=AAAA", "0a" * 30, "b" * 43 + "="]


@pytest.mark.parametrize("spelt", FORMS)
def test_the_header_the_autopsy_and_the_comparison_report_a_wrong_form(spelt: str) -> None:
    said = header(POST, "v1=" + spelt)
    made = autopsy(facts(POST, "v1=" + spelt))
    assert (made.sentence, made.fix) == (said, FIX)
    string = canonical_string(str(NOW).encode(), NONCE.encode(), b"POST", b"", body_hash(POST.body))
    compared = autopsy(facts(POST, "v1=" + spelt), string).compared
    assert compared is not None
    assert compared.sentence == f"your string is as expected, but {said}"
    assert compared.fix == FIX
    other = autopsy(facts(POST, "v1=" + spelt), string + b"x").compared
    assert other is not None
    assert other.sentence.endswith(f"and {said}")
    assert "was not made of it" not in other.sentence
    assert other.fix.endswith(FIX)


@pytest.mark.parametrize("size", range(1, 16))
def test_fewer_bytes_than_a_guess_needs_are_not_compared(size: int) -> None:
    """Otherwise who asks often enough would learn the right signature byte by byte."""
    sent = Signer(encode=lambda digest: b64encode(digest[:size]).decode()).sign(POST)
    wrong = Signer(key=lambda: b"x", encode=lambda digest: b64encode(digest[:size]).decode()).sign(POST)
    assert header(POST, sent) == header(POST, wrong)
    assert autopsy(facts(POST, sent)).sentence == autopsy(facts(POST, wrong)).sentence
    of_hex = Signer(encode=lambda digest: digest.hex()[: 2 * size]).sign(POST)
    assert autopsy(facts(POST, of_hex)).found == ()


def test_a_string_that_was_signed_with_the_secret_of_another_is_known_to_be() -> None:
    string = canonical_string(str(NOW).encode(), NONCE.encode(), b"POST", b"mine", body_hash(POST.body))
    sent = Signer(join=lambda *_: string, key=lambda: b64decode(OTHER_SECRET)).sign(POST)
    compared = autopsy(facts(POST, sent), string).compared
    assert compared is not None
    assert compared.is_signed
    assert [one.id for one in compared.found] == ["secret-of-another"]


def test_a_given_string_is_known_in_another_encoding_by_the_secret_of_another() -> None:
    string = canonical_string(str(NOW).encode(), NONCE.encode(), b"POST", b"mine", body_hash(POST.body))
    sent = Signer(join=lambda *_: string, key=lambda: b64decode(OTHER_SECRET), encode=bytes.hex).sign(POST)
    compared = autopsy(facts(POST, sent), string).compared
    assert compared is not None
    assert [one.id for one in compared.found] == ["secret-of-another", "signature-hexadecimal"]


def test_control_characters_of_a_string_are_escaped_in_sentences() -> None:
    given = b"v1:\x1b[2J\n:" + NONCE.encode() + b":POST::" + body_hash(POST.body)
    compared = autopsy(facts(POST, Signer().sign(POST)), given).compared
    assert compared is not None
    assert "the timestamp is '\\x1b[2J\\n' where" in compared.sentence
    named = Request(query="\x1b[2J&a=1")
    sent = Signer(query=lambda _: "\x1b[2J&a=1").sign(named)
    assert "\\x1b[2J has no =" in autopsy(facts(named, sent)).sentence


TOGETHER: list[tuple[set[str], Request, dict[str, Any]]] = [
    ({"no-separators", "version-missing"}, POST, {"join": lambda *parts: "".join(parts)}),
    ({"line-feeds", "version-missing"}, POST, {"join": lambda *parts: "\n".join(parts)}),
    ({"other-separators", "version-missing"}, POST, {"join": lambda *parts: ";".join(parts)}),
    ({"other-separators", "version-missing"}, POST, {"join": lambda *parts: ", ".join(parts)}),
    (
        {"timestamp-in-milliseconds", "signature-hexadecimal"},
        POST,
        {"timestamp": lambda: f"{NOW}482", "encode": bytes.hex},
    ),
    ({"signature-cut"}, POST, {"encode": lambda digest: digest.hex()[:63]}),
    (
        {"method-in-lower-case", "signature-cut"},
        POST,
        {"method": str.lower, "encode": lambda digest: b64encode(digest[:24]).decode()},
    ),
    *(
        (
            {"method-in-lower-case", "body-serialised-again"},
            FRENCH,
            {
                "method": str.lower,
                "hashed": body_as(partial(json.dumps, indent=indent, ensure_ascii=is_ascii)),
            },
        )
        for indent in (1, 2, 3, 4, "\t")
        for is_ascii in (True, False)
    ),
    ({"line-feeds", "nonce-before-timestamp"}, POST, {"join": lambda t, n, *more: "\n".join(("v1", n, t, *more))}),
    ({"line-feeds", "other-order"}, POST, {"join": lambda t, n, m, q, h: "\n".join(("v1", t, m, n, q, h))}),
    ({"query-decoded", "query-not-sorted"}, Request(), {"query": lambda one: unquote(one.query)}),
    ({"query-encoded-twice", "query-not-sorted"}, Request(), {"query": lambda one: quote(one.query, safe="=&")}),
    ({"query-ignoring-case", "query-with-question-mark"}, Request(query="B=2&a=1"), {"query": lambda _: "?a=1&B=2"}),
    ({"query-sorted-by-value", "query-with-question-mark"}, Request(query="a=2&b=1"), {"query": lambda _: "?b=1&a=2"}),
    ({"query-ignoring-case", "query-with-path"}, Request(query="B=2&a=1"), {"query": lambda _: "/v2/topup?a=1&B=2"}),
    (
        {"body-serialised-again", "body-hash-hexadecimal"},
        POST,
        {"hashed": lambda body: sha256(json.dumps(json.loads(body)).encode()).hexdigest()},
    ),
]


@pytest.mark.parametrize(("names", "request_", "steps"), TOGETHER, ids=[" ".join(sorted(one[0])) for one in TOGETHER])
def test_two_mistakes_that_go_together_are_named_together(
    names: set[str], request_: Request, steps: dict[str, Any]
) -> None:
    made = autopsy(facts(request_, Signer(**steps).sign(request_)))
    assert {one.id for one in made.found} == names


def test_a_long_body_is_not_written_otherwise_for_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(body=b"[" + b"1.5," * 1000 + b"1.5]")
    sent = Signer(hashed=lambda body: b64encode(sha256(json.dumps(json.loads(body)).encode()).digest()).decode())
    signature_ = sent.sign(request)
    assert [one.id for one in autopsy(facts(request, signature_)).found] == ["body-serialised-again"]
    monkeypatch.setattr(body_mistakes, "_encodings", lambda *_, **__: pytest.fail("the event loop waits for this"))
    assert header(request, signature_).startswith("no common mistake")


def test_two_mistakes_of_different_places_are_named_together() -> None:
    assert len(PAIRS) >= 40
    wrong = {}
    for one, other in PAIRS:
        sent = Signer(**{**one.steps, **other.steps}).sign(Request())
        found = {each.id for each in autopsy(facts(Request(), sent)).found}
        if found != {one.id, other.id}:
            wrong[one.id, other.id] = found
    assert wrong == {}


@pytest.mark.parametrize("request_", [Request(), POST, GET, BARE])
def test_a_right_signature_is_right(request_: Request) -> None:
    made = autopsy(facts(request_, Signer().sign(request_)))
    assert (made.is_right, made.sentence, made.found) == (True, IS_RIGHT, ())


@settings(max_examples=10)
@given(st.binary(min_size=32, max_size=32))
def test_a_signature_by_an_unknown_secret_has_no_mistake(digest: bytes) -> None:
    made = autopsy(facts(BARE, "v1=" + b64encode(digest).decode()))
    assert made.sentence.startswith("no known mistake")
    assert (made.is_right, made.found, made.signed) == (False, (), None)


@settings(max_examples=15)
@given(st.binary(max_size=100), st.binary(max_size=60), st.binary(max_size=60))
def test_any_request_can_be_looked_at(sent: bytes, query: bytes, body: bytes) -> None:
    of = facts(Request(query=query.decode("latin-1")), sent.decode("latin-1"))
    made = autopsy(msgspec.structs.replace(of, signature=sent, query=query, body=body))
    assert not made.is_right


@pytest.mark.parametrize(
    "body", [b"[" * 5000, b"\xff\xfe", b'{"a":"\\ud800"}', b"NaN", b"1e999", b'{"a":' * 300 + b"1" + b"}" * 300]
)
def test_any_body_can_be_looked_at(body: bytes) -> None:
    assert not autopsy(facts(Request(body=body), "v1=" + "A" * 43 + "=")).is_right


@pytest.mark.parametrize("timestamp", ["", "soon", "9" * 5000, "9" * 18, "0", "-5"])
def test_any_timestamp_can_be_looked_at(timestamp: str) -> None:
    assert not autopsy(
        msgspec.structs.replace(facts(BARE, "v1=" + "A" * 43 + "="), timestamp=timestamp.encode())
    ).is_right


NOBODY = signature(b"of nobody", b"of nothing")
LONG = Request(query="a=" + "b" * 60_000)


@pytest.mark.parametrize(("request_", "is_whole"), [(POST, True), (GET, True), (BARE, True), (LONG, False)])
def test_a_search_is_bounded(request_: Request, is_whole: bool, tried: list[bytes]) -> None:
    assert search.search(facts(request_, NOBODY)) == (None, is_whole)
    assert sum(1 + len(text) // 1024 for text in tried[:-1]) <= search.HMACS_MAX  # the last one was too much
    tried.clear()
    assert search.search(facts(request_, NOBODY), is_short=True) == (None, is_whole)
    assert 0 < sum(1 + len(text) // 1024 for text in tried[:-1]) <= search.LOOP_HMACS_MAX


# A query with four accepted forms, so that the search reaches its bound.
FOUR_FORMS = Request(query="s=2&b=&s=1&c=&a=%2F&b=3&flag")
LEAN = "a=%2F&b=3&s=1&s=2"  # the last of them: without empty values, equal keys sorted by value


WITH_ANY_QUERY = [
    one
    for one in CLIENTS
    if one.request == Request()
    and PLACES[BY_ID[one.id].step] != "query"
    and one.id not in ("only-body-signed", "string-of-other-service")
]


@pytest.mark.parametrize("client", WITH_ANY_QUERY, ids=[f"{at}-{one.id}" for at, one in enumerate(WITH_ANY_QUERY)])
def test_a_single_mistake_is_found_in_each_form_of_a_query(client: Mistaken) -> None:
    request = replace(client.request, query=FOUR_FORMS.query)
    sent = Signer(**{"query": lambda _: LEAN, **client.steps}).sign(request)
    made = autopsy(facts(request, sent))
    assert [one.id for one in made.found] == [client.id]
    assert made.expected.query.decode() == LEAN


def test_each_single_mistake_of_each_form_is_tried_before_a_pair(tried: list[bytes]) -> None:
    search.search(facts(FOUR_FORMS, NOBODY))
    forms = canonical_queries(FOUR_FORMS.query.encode(), RULES)
    assert len(forms) == 4
    hashed = body_hash(FOUR_FORMS.body)
    heads = [f"v1:{NOW}:{NONCE}:post:", f"v1:{NOW}417:{NONCE}:POST:", f"v1:2026-11-21T08:33:37.417Z:{NONCE}:POST:"]
    singles = [tried.index(head.encode() + form + b":" + hashed) for head in heads for form in forms]
    assert max(singles) < tried.index(f"v1:{NOW}:{NONCE.lower()}:post:".encode() + forms[0] + b":" + hashed)


def test_the_places_of_mistakes_match_the_contract() -> None:
    import json

    from simulator.contract.files import data_dir

    schema = json.loads((data_dir("contracts") / "schemas" / "exchange-answer.json").read_text())
    nearest = schema["$defs"]["autopsy"]["properties"]["nearest"]["properties"]
    assert set(nearest["differs"]["items"]["enum"]) == set(PLACES.values())
