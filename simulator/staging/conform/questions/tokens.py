"""What a login shows of the knobs."""

from typing import Any

from simulator.staging.conform.checks.tokens import REFRESH, login, post, result_of
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.registry import question


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
