"""The legacy tokens (SPEC 4.2, 4.3, 5.4)."""

from collections.abc import Iterator, Mapping
from json import dumps
from secrets import token_hex
from typing import Any

from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.conform.registry import check
from simulator.staging.service import Answer

TOKEN, REFRESH = "/v2/token", "/v2/token/refresh"  # paths


def post(run: Run, path: str, body: Any, media: str = "application/json") -> Answer:
    """An unsigned POST. Tokens of its answer are masked in the report."""
    content = body if isinstance(body, bytes) else dumps(body).encode()
    answer = run.session.plain("POST", path, content, {"Content-Type": media})
    if answer.status == 200:
        run.secrets.add(str(value) for value in result_of(answer).values())
    return answer


def result_of(answer: Answer) -> Mapping[str, Any]:
    """The five members, in either shape of the register (`token-answer`). Raises `Departs`."""
    value = answer.json
    inner = value.get("AuthenticationResult", value) if isinstance(value, dict) else None
    if not isinstance(inner, dict):
        raise Departs("AuthenticationResult", "an object", value)
    return inner


def login(run: Run) -> Answer:
    """The tokens of the caller's user, asked for once."""
    if run.permissions.login is None:
        raise NotExercised("no user was named")
    name, password = run.permissions.login
    if run.tokens is None:
        run.tokens = post(run, TOKEN, {"username": name, "password": password})
    if run.tokens.status != 200:
        raise Departs("the status of the login", 200, run.tokens.status)
    return run.tokens


@check("token-missing", "4.2", "A token without username or password is refused")
def token_missing(run: Run) -> Iterator[Departure]:
    for body, field in (({"password": "x"}, "username"), ({"username": "x"}, "password")):
        answer = post(run, TOKEN, body)
        yield from run.expected(answer, 400)
        if answer.status == 400:
            yield from unless(field in answer.at("errors"), f"errors.{field}", "a list of texts", answer.at("errors"))


@check("token-wrong", "4.2", "An unknown user gets no token")
def token_wrong(run: Run) -> Iterator[Departure]:
    answer = post(run, TOKEN, {"username": f"conform-{token_hex(8)}", "password": token_hex(8)})
    yield from run.expected(answer, 401)


@check("token-refresh-missing", "4.3", "A refresh without refresh_token is refused")
def token_refresh_missing(run: Run) -> Iterator[Departure]:
    yield from run.expected(post(run, REFRESH, {"other": "x"}), 400)


@check("token-refresh-wrong", "4.3", "A refresh token that the service never gave is refused")
def token_refresh_wrong(run: Run) -> Iterator[Departure]:
    yield from run.expected(post(run, REFRESH, {"refresh_token": f"conform-{token_hex(16)}"}), 401)


@check("token-answer", "4.2", "A login answers with the five members", needs="login")
def token_answer(run: Run) -> Iterator[Departure]:
    answer = login(run)
    yield from run.expected(answer, 200)
    result = result_of(answer)
    yield from unless(int(result["ExpiresIn"]) > 0, "ExpiresIn", "seconds above 0", result["ExpiresIn"])


@check("token-accepted", "5.4", "The IdToken is accepted, the AccessToken is not", needs="login")
def token_accepted(run: Run) -> Iterator[Departure]:
    result = result_of(login(run))
    for name, status in (("IdToken", 200), ("AccessToken", 401)):
        answer = run.session.plain("GET", "/v1/interbank/billers", headers={"Authorization": f"Bearer {result[name]}"})
        yield from differ(f"the status with the {name}", status, answer.status)


@check("token-refresh", "4.3", "A refresh answers with a new IdToken", needs="login")
def token_refresh(run: Run) -> Iterator[Departure]:
    answer = post(run, REFRESH, {"refresh_token": result_of(login(run))["RefreshToken"]})
    yield from run.expected(answer, 200)
    yield from unless(bool(result_of(answer).get("IdToken")), "IdToken", "a token", "empty or absent")
