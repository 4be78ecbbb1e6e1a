"""Which spellings of a query the service accepts as signed, which content types and bodies, and what a login shows."""

from secrets import token_hex
from typing import Any

from simulator.staging.conform.checks.tokens import REFRESH, TOKEN, login, post, result_of
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.registry import question
from simulator.staging.session import Signed, target


def _accepts(run: Run, sent: str, signed: str) -> bool:
    """Whether a request with one query is accepted with the signature of another."""
    answer = run.session.call("GET", sent, signed=Signed(query=signed))
    if answer.status not in (200, 401):
        raise NotExercised(f"neither 200 nor 401: {answer}")
    return answer.status == 200


def _which(first: bool, second: bool, names: tuple[str, str]) -> str:
    if not (first or second):
        raise NotExercised("the service accepts neither")
    return "either" if first and second else names[0] if first else names[1]


@question("repeated-query-keys")
def repeated_query_keys(run: Run) -> tuple[Any, str]:
    sent = target("/v2/transactions", date=run.days, limit=1, status=["SUCCESSFUL", "FAILED"])
    base = target("", date=run.days, limit=1).removeprefix("?")
    as_sent, by_value = (
        _accepts(run, sent, f"{base}&status={one}&status={two}")
        for one, two in (("SUCCESSFUL", "FAILED"), ("FAILED", "SUCCESSFUL"))
    )
    evidence = f"signed in the order sent: {_word(as_sent)}; by value: {_word(by_value)}"
    return _which(as_sent, by_value, ("as_sent", "sorted")), evidence


@question("empty-query-values")
def empty_query_values(run: Run) -> tuple[Any, str]:
    sent = "/v2/catalog?is_active=true&product_code="
    kept, left_out = _accepts(run, sent, "is_active=true&product_code="), _accepts(run, sent, "is_active=true")
    evidence = f"signed with product_code=: {_word(kept)}; without: {_word(left_out)}"
    return _which(kept, left_out, ("with", "without")), evidence


def _word(is_accepted: bool) -> str:
    return "accepted" if is_accepted else "refused"


def _judged(run: Run, body: bytes, media: str, values: tuple[str, str]) -> tuple[Any, str]:
    """What the login of an unknown user says of a body: the credentials are wrong (401), or the body is (400)."""
    answer = post(run, TOKEN, body, media)
    if answer.status not in (400, 401):
        raise NotExercised(f"neither 400 nor 401: {answer}")
    return values[answer.status == 401], f"the login of an unknown user, so sent, answered {answer.status}"


@question("content-type")
def content_type(run: Run) -> tuple[Any, str]:
    body = f'{{"username":"conform-{token_hex(8)}","password":"x"}}'.encode()
    return _judged(run, body, "text/plain", ("checked", "ignored"))


@question("duplicate-json-keys")
def duplicate_json_keys(run: Run) -> tuple[Any, str]:
    body = f'{{"username":"conform-{token_hex(8)}","password":"x","password":"y"}}'.encode()
    return _judged(run, body, "application/json", ("reject", "last"))


@question("token-answer", needs="login")
def token_answer(run: Run) -> tuple[Any, str]:
    value = login(run).json
    is_wrapped, is_flat = "AuthenticationResult" in value, "IdToken" in value
    evidence = f"the members of a login are {', '.join(sorted(value))}"
    if not (is_wrapped or is_flat):
        raise NotExercised(evidence)
    return ("both" if is_wrapped and is_flat else "wrapped" if is_wrapped else "flat"), evidence


@question("refreshed-token", needs="login")
def refreshed_token(run: Run) -> tuple[Any, str]:
    answer = post(run, REFRESH, {"refresh_token": result_of(login(run))["RefreshToken"]})
    if answer.status != 200:
        raise NotExercised(f"the refresh answered {answer.status}")
    is_null = result_of(answer)["RefreshToken"] is None
    return ("original" if is_null else "new"), f"RefreshToken of a refresh is {'null' if is_null else 'a token'}"


@question("bearer-endpoints", needs="login")
def bearer_endpoints(run: Run) -> tuple[Any, str]:
    token = result_of(login(run))["IdToken"]
    answer = run.session.plain("GET", "/v2/balance", headers={"Authorization": f"Bearer {token}"})
    if answer.status not in (200, 401):
        raise NotExercised(f"neither 200 nor 401: {answer}")
    value = "all" if answer.status == 200 else "legacy"
    return value, f"GET /v2/balance with a bearer token answered {answer.status}"
