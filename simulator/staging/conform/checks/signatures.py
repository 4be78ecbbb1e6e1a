"""The headers that a request must have, and refusals without them (SPEC 5.1, 5.2). All ask for the balance,
except where a body is sent."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from json import dumps
from secrets import token_bytes, token_urlsafe
from typing import Any

from simulator.auth import headers as names
from simulator.staging.conform.context import Run, check
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.service import Answer, SignedAs

PATH = "/v2/balance"
KEY, TIMESTAMP = names.WRITTEN_API_KEY, names.WRITTEN_TIMESTAMP
NONCE, SIGNATURE = names.WRITTEN_NONCE, names.WRITTEN_SIGNATURE


def _refused(run: Run, answer: Answer, code: str, what: str) -> Iterator[Departure]:
    if answer.status != 401:
        yield Departure(f"the status {what}", f"401 {code}", str(answer))
        return
    yield from run.expected(answer, 401)
    yield from differ(f"error {what}", code, answer.at("error"))


@check("5.2", "Without X-Api-Key, or with an unknown key, a request is refused")
def auth_key(run: Run) -> Iterator[Departure]:
    for code, value in (("missing_api_key", None), ("missing_api_key", ""), ("invalid_api_key", "conform-no-such-key")):
        what = {None: "without X-Api-Key", "": "with an empty X-Api-Key"}.get(value, "with an unknown key")
        yield from _refused(run, run.session.call("GET", PATH, headers={KEY: value}), code, what)


BASE_REQUEST: dict[str, Any] = {"method": "GET", "target": PATH}
Change = tuple[str, dict[str, Any]]
"""A change of a request: its description, and its arguments of `Session.call`."""


def _changed(code: str, *changes: Change) -> Callable[[Run], Iterator[Departure]]:
    """Return a check of signed requests, each with a change that has to be refused with `code`."""

    def run_check(run: Run) -> Iterator[Departure]:
        for what, change in changes:
            answer = run.session.call(**BASE_REQUEST | change)
            yield from _refused(run, answer, code, what)

    return run_check


def _header(name: str, value: str | None) -> Change:
    what = {None: f"without {name}", "": f"with an empty {name}"}.get(value, f"with {value!r}")
    return what, {"headers": {name: value}}


HMAC = (TIMESTAMP, NONCE, SIGNATURE)
NONCES = {"15 characters": "a" * 15, "129 characters": "a" * 129, "a !": "a" * 20 + "!"}
# The request with another body names no transaction, so a service that accepted it would do nothing.
CASE: dict[str, Any] = {"method": "POST", "target": "/v2/transactions/check", "body": {}, "signed": SignedAs(body=b"x")}
QUERY: dict[str, Any] = {"target": "/v2/catalog?is_active=true", "signed": SignedAs(query="is_active=false")}
for _id, _section, _title, _made in (
    ("auth-headers", "5.2", "Without X-Timestamp, X-Nonce or X-Signature a request is refused",
     _changed("missing_hmac_headers", *(_header(name, None) for name in HMAC))),
    ("auth-empty", "5.2", "With an empty X-Timestamp, X-Nonce or X-Signature a request is refused",
     _changed("empty_hmac_values", *(_header(name, "") for name in HMAC))),
    ("auth-nonce-format", "5.1", "A nonce has 16 to 128 characters of a-z A-Z 0-9 - _",
     _changed("invalid_nonce_format", *((f"with a nonce of {what}", {"nonce": one}) for what, one in NONCES.items()))),
    ("auth-timestamp-format", "5.1", "X-Timestamp is Unix time in seconds",
     _changed("invalid_timestamp_format", *(_header(TIMESTAMP, stamp) for stamp in ("2026-11-21T04:00:00Z", "1.5e9")))),
    ("auth-timestamp-window", "5.1", "A timestamp more than 5 minutes off is refused, in either direction",
     _changed("timestamp_expired", ("with a timestamp that is too old", {"age_s": 330}),
              ("with a timestamp that is ahead", {"age_s": -330}))),
    ("auth-signature-format", "5.1", "A signature begins with v1=",
     _changed("invalid_signature_format", _header(SIGNATURE, "v2=AAAA"), _header(SIGNATURE, "AAAA"))),
    ("auth-signature", "5.2", "A signature of another secret is refused",
     _changed("invalid_signature", ("with another secret", {"secret": b64encode(token_bytes(32)).decode()}))),
    ("auth-signed-method", "5.1", "The method is signed",
     _changed("invalid_signature", ("with the signature of a POST", {"signed": SignedAs(method="POST")}))),
    ("auth-signed-query", "5.1", "The query is signed",
     _changed("invalid_signature", ("with the signature of another query", QUERY))),
    ("auth-signed-body", "5.1", "The body is signed",
     _changed("invalid_signature", ("with the signature of another body", CASE))),
):  # fmt: skip
    check(_section, _title, id_=_id)(_made)


@check("5.1", "Nonces of 16 and of 128 characters are accepted")
def auth_nonce_bounds(run: Run) -> Iterator[Departure]:
    for length in (16, 128):
        answer = run.session.call("GET", PATH, nonce=(token_urlsafe(128) + "_")[:length])
        yield from differ(f"the status with a nonce of {length} characters", 200, answer.status)


@check("5.1", "A timestamp 4 minutes off is accepted")
def auth_timestamp_tolerance(run: Run) -> Iterator[Departure]:
    for age_s in (240, -240):
        answer = run.session.call("GET", PATH, age_s=age_s)
        yield from unless(answer.status == 200, f"the status with an age of {age_s} s", "200", answer)


@check("5.1", "The query is signed in the order of its keys, independent of the sent order")
def auth_query_order(run: Run) -> Iterator[Departure]:
    answer = run.session.call("GET", "/v2/catalog?product_code=CONFORM&is_active=true")
    yield from unless(answer.status == 200, "the status with a query out of order", "200", answer)


@check("3.6", "A nonce is accepted once")
def auth_nonce_reused(run: Run) -> Iterator[Departure]:
    nonce = token_urlsafe(24)
    first = run.session.call("GET", PATH, nonce=nonce)
    yield from differ("the status of a new nonce", 200, first.status)
    again = run.session.call("GET", PATH, nonce=nonce)
    yield from _refused(run, again, "nonce_reused", "with a nonce for the second time")


@check("3.6", "A signed request is accepted once")
def auth_replay(run: Run) -> Iterator[Departure]:
    request = run.session.call("GET", PATH).request
    again = run.session.plain(request.method, request.target, headers=request.headers)
    yield from _refused(run, again, "nonce_reused", "of a request that is sent twice")


@check("7.1", "The catalog's 401 has a message, and metadata.status_code as a text")
def auth_catalog(run: Run) -> Iterator[Departure]:
    answer = run.session.plain("GET", "/v2/catalog")
    yield from run.expected(answer, 401)
    yield from unless(isinstance(answer.at("message"), str), "message", "a text", answer.at("message"))
    metadata = answer.json.get("metadata")
    if metadata is None:
        run.note("the catalog's 401 has no metadata, but the shape of other authentication failures")
    else:
        yield from differ("metadata.status_code", "401", metadata.get("status_code"))


TOKEN, REFRESH = "/v2/token", "/v2/token/refresh"  # paths


def post(run: Run, path: str, body: Any, media: str = "application/json") -> Answer:
    """Send an unsigned POST. Tokens of its answer are masked in the report."""
    content = body if isinstance(body, bytes) else dumps(body).encode()
    answer = run.session.plain("POST", path, content, {"Content-Type": media})
    if answer.status == 200:
        run.secrets.add(str(value) for value in result_of(answer).values())
    return answer


def result_of(answer: Answer) -> Mapping[str, Any]:
    """Return the five members, in either shape of the register (`token-answer`). Raises `Departs`."""
    value = answer.json
    inner = value.get("AuthenticationResult", value) if isinstance(value, dict) else None
    if not isinstance(inner, dict):
        raise Departs("AuthenticationResult", "an object", value)
    return inner


def login(run: Run) -> Answer:
    """Return the tokens of the caller's user, requested only once. Raises `NotExercised` for a wrong password."""
    assert run.login is not None, "the check needs a login"
    name, password = run.login
    if run.tokens is None:
        run.tokens = post(run, TOKEN, {"username": name, "password": password})
    if run.tokens.status == 401:
        raise NotExercised("the login was refused with 401: look at --username and --password")
    if run.tokens.status != 200:
        raise Departs("the status of the login", 200, run.tokens.status)
    return run.tokens


@check("4.2", "A login answers with the five members", needs="login")
def token_answer(run: Run) -> Iterator[Departure]:
    yield from run.expected(login(run), 200)


@check("5.4", "The IdToken is accepted, the AccessToken is not", needs="login")
def token_accepted(run: Run) -> Iterator[Departure]:
    result = result_of(login(run))
    for name, status in (("IdToken", 200), ("AccessToken", 401)):
        answer = run.session.plain("GET", "/v1/interbank/billers", headers={"Authorization": f"Bearer {result[name]}"})
        yield from differ(f"the status with the {name}", status, answer.status)


@check("4.3", "A refresh answers with a new IdToken", needs="login")
def token_refresh(run: Run) -> Iterator[Departure]:
    answer = post(run, REFRESH, {"refresh_token": result_of(login(run))["RefreshToken"]})
    yield from run.expected(answer, 200)
    yield from unless(bool(result_of(answer).get("IdToken")), "IdToken", "a token", "empty or absent")
