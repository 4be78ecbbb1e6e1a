"""What a request must carry, and how it is refused without (SPEC 5.1, 5.2). All of these ask for the balance, but for
one that sends a body."""

from base64 import b64encode
from collections.abc import Iterator
from secrets import token_bytes, token_urlsafe

from simulator.auth import headers as names
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, differ, unless
from simulator.staging.conform.registry import check
from simulator.staging.service import Answer
from simulator.staging.session import Signed

PATH = "/v2/balance"
STALE_S = 330
KEY, TIMESTAMP = names.WRITTEN_API_KEY, names.WRITTEN_TIMESTAMP
NONCE, SIGNATURE = names.WRITTEN_NONCE, names.WRITTEN_SIGNATURE


def _with(run: Run, **headers: str | None) -> Answer:
    """A request whose headers of these names were replaced or removed."""
    return run.session.call("GET", PATH, headers={name.replace("_", "-"): value for name, value in headers.items()})


def _refused(run: Run, answer: Answer, code: str, what: str) -> Iterator[Departure]:
    if answer.status != 401:
        yield Departure(f"the status {what}", f"401 {code}", str(answer))
        return
    yield from run.expected(answer, 401)
    yield from differ(f"error {what}", code, answer.at("error"))


@check("auth-key", "5.2", "Without X-Api-Key, or with an unknown one, a request is refused")
def auth_key(run: Run) -> Iterator[Departure]:
    yield from _refused(run, _with(run, **{KEY: None}), "missing_api_key", "without X-Api-Key")
    yield from _refused(run, _with(run, **{KEY: ""}), "missing_api_key", "with an empty X-Api-Key")
    unknown = f"conform-{token_urlsafe(12)}"
    yield from _refused(run, _with(run, **{KEY: unknown}), "invalid_api_key", "with an unknown key")


@check("auth-headers", "5.2", "Without X-Timestamp, X-Nonce or X-Signature a request is refused")
def auth_headers(run: Run) -> Iterator[Departure]:
    for name in (TIMESTAMP, NONCE, SIGNATURE):
        yield from _refused(run, _with(run, **{name: None}), "missing_hmac_headers", f"without {name}")


@check("auth-empty", "5.2", "With an empty X-Timestamp, X-Nonce or X-Signature a request is refused")
def auth_empty(run: Run) -> Iterator[Departure]:
    for name in (TIMESTAMP, NONCE, SIGNATURE):
        yield from _refused(run, _with(run, **{name: ""}), "empty_hmac_values", f"with an empty {name}")


@check("auth-nonce-format", "5.1", "A nonce has 16 to 128 characters of a-z A-Z 0-9 - _")
def auth_nonce_format(run: Run) -> Iterator[Departure]:
    for nonce, what in (("a" * 15, "15 characters"), ("a" * 129, "129 characters"), ("a" * 20 + "!", "a !")):
        answer = run.session.call("GET", PATH, nonce=nonce)
        yield from _refused(run, answer, "invalid_nonce_format", f"with a nonce of {what}")


@check("auth-nonce-bounds", "5.1", "Nonces of 16 and of 128 characters are accepted")
def auth_nonce_bounds(run: Run) -> Iterator[Departure]:
    for length in (16, 128):
        answer = run.session.call("GET", PATH, nonce=(token_urlsafe(128) + "_")[:length])
        yield from differ(f"the status with a nonce of {length} characters", 200, answer.status)


@check("auth-timestamp-format", "5.1", "X-Timestamp is Unix time in seconds")
def auth_timestamp_format(run: Run) -> Iterator[Departure]:
    for value in ("2026-11-21T04:00:00Z", "now", "1.5e9"):
        yield from _refused(run, _with(run, **{TIMESTAMP: value}), "invalid_timestamp_format", f"with {value!r}")


@check("auth-timestamp-window", "5.1", "A timestamp more than 5 minutes off is refused, in either direction")
def auth_timestamp_window(run: Run) -> Iterator[Departure]:
    for age_s, what in ((STALE_S, "too old"), (-STALE_S, "ahead")):
        answer = run.session.call("GET", PATH, age_s=age_s)
        yield from _refused(run, answer, "timestamp_expired", f"with a timestamp that is {what}")


@check("auth-timestamp-tolerance", "5.1", "A timestamp 4 minutes off is accepted")
def auth_timestamp_tolerance(run: Run) -> Iterator[Departure]:
    for age_s in (240, -240):
        answer = run.session.call("GET", PATH, age_s=age_s)
        yield from unless(answer.status == 200, f"the status with an age of {age_s} s", "200", answer)


@check("auth-signature-format", "5.1", "A signature begins with v1=")
def auth_signature_format(run: Run) -> Iterator[Departure]:
    for value in ("v2=AAAA", "AAAA"):
        yield from _refused(run, _with(run, **{SIGNATURE: value}), "invalid_signature_format", f"with {value}")


@check("auth-signature", "5.2", "A signature of another secret is refused")
def auth_signature(run: Run) -> Iterator[Departure]:
    answer = run.session.call("GET", PATH, secret=b64encode(token_bytes(32)).decode())
    yield from _refused(run, answer, "invalid_signature", "with another secret")


@check("auth-signed-method", "5.1", "The method is signed")
def auth_signed_method(run: Run) -> Iterator[Departure]:
    answer = run.session.call("GET", PATH, signed=Signed(method="POST"))
    yield from _refused(run, answer, "invalid_signature", "with the signature of a POST")


@check("auth-signed-query", "5.1", "The query is signed")
def auth_signed_query(run: Run) -> Iterator[Departure]:
    answer = run.session.call("GET", "/v2/catalog?is_active=true", signed=Signed(query="is_active=false"))
    yield from _refused(run, answer, "invalid_signature", "with the signature of another query")


@check("auth-signed-body", "5.1", "The body is signed")
def auth_signed_body(run: Run) -> Iterator[Departure]:
    # What is sent names no transaction, so that a service which accepted it would do nothing.
    answer = run.session.call("POST", "/v2/transactions/check", {}, signed=Signed(body=b'{"refid":"another"}'))
    yield from _refused(run, answer, "invalid_signature", "with the signature of another body")


@check("auth-query-order", "5.1", "The query is signed in the order of its keys, whatever order is sent")
def auth_query_order(run: Run) -> Iterator[Departure]:
    answer = run.session.call("GET", "/v2/catalog?product_code=CONFORM&is_active=true")
    yield from unless(answer.status == 200, "the status with a query out of order", "200", answer)


@check("auth-nonce-reused", "3.6", "A nonce is accepted once")
def auth_nonce_reused(run: Run) -> Iterator[Departure]:
    nonce = token_urlsafe(24)
    first = run.session.call("GET", PATH, nonce=nonce)
    yield from differ("the status of a new nonce", 200, first.status)
    again = run.session.call("GET", PATH, nonce=nonce)
    yield from _refused(run, again, "nonce_reused", "with a nonce for the second time")


@check("auth-replay", "3.6", "The same signed request is accepted once")
def auth_replay(run: Run) -> Iterator[Departure]:
    request = run.session.call("GET", PATH).request
    again = run.session.plain(request.method, request.target, headers=request.headers)
    yield from _refused(run, again, "nonce_reused", "of a request that is sent twice")


@check("auth-catalog", "7.1", "The catalog's 401 has a message, and metadata.status_code as a text")
def auth_catalog(run: Run) -> Iterator[Departure]:
    answer = run.session.plain("GET", "/v2/catalog")
    yield from run.expected(answer, 401)
    yield from unless(isinstance(answer.at("message"), str), "message", "a text", answer.at("message"))
    metadata = answer.json.get("metadata")
    if metadata is None:
        run.note("the catalog's 401 has no metadata, but the shape of other authentication failures")
    else:
        yield from differ("metadata.status_code", "401", metadata.get("status_code"))


@check("auth-everywhere", "4", "Every endpoint that reads refuses an unsigned request")
def auth_everywhere(run: Run) -> Iterator[Departure]:
    paths = (
        "/v2/options", "/v1/interbank/billers", "/v2/product-list", "/v2/subproducts", "/v2/networkstatus",
        "/v2/bill-presentment", "/v2/transactions", "/v2/balance-statement", "/v2/callback-url", "/v2/balance-webhook",
        "/v2/balance-webhook/deliveries",
    )  # fmt: skip
    for path in paths:
        answer = run.session.plain("GET", path)
        yield from unless(answer.status == 401, f"the status of {path}", "401", answer)


@check("auth-bearer", "5.4", "A bearer token that the service never gave is refused")
def auth_bearer(run: Run) -> Iterator[Departure]:
    answer = run.session.plain("GET", "/v1/interbank/billers", headers={"Authorization": "Bearer not.a.token"})
    yield from unless(answer.status == 401, "the status with an invalid token", "401", answer)
