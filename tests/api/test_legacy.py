"""Username, password and tokens instead of a signature (SPEC 4.2, 4.3, 5.3, 5.4)."""

from typing import Any
from urllib.parse import urlencode

import pytest

from simulator.api.token_credentials import realm_of
from simulator.auth.tokens import TokenHolder, Use, issue
from tests.support.client import Client, Response, running
from tests.support.tokens import CREDENTIALS, PASSWORD, USER, get, login, pay_by_token, post, refresh

FIVE = {"AccessToken", "ExpiresIn", "TokenType", "RefreshToken", "IdToken"}
FORM = "application/x-www-form-urlencoded"
HOUR = 3600
DAYS_30 = 30 * 86400
SETTINGS = "/sandboxes/default/resellers/RS001/settings"
NARROW: dict[str, Any] = {"assume": {"bearer-endpoints": "legacy"}}


def diagnosis(response: Response) -> str:
    return response.headers.get("x-sim-diagnosis", "")


# Tokens for a username and password


def test_a_username_and_password_give_tokens_without_any_header() -> None:
    with running() as client:
        response = post(client, "/v2/token", CREDENTIALS)
        assert response.status == 200
        result = response.json
        assert set(result) == FIVE | {"AuthenticationResult"}
        assert result["AuthenticationResult"] == {name: result[name] for name in FIVE}
        assert (result["ExpiresIn"], result["TokenType"]) == (3600, "Bearer")
        assert len({result["AccessToken"], result["RefreshToken"], result["IdToken"]}) == 3


@pytest.mark.parametrize("content_type", [FORM, FORM + "; charset=utf-8", FORM.upper()])
def test_a_form_does_as_well_as_json(content_type: str) -> None:
    with running() as client:
        response = post(client, "/v2/token", urlencode(CREDENTIALS).encode(), content_type=content_type)
        assert response.status == 200
        assert response.json["IdToken"] == login(client)["IdToken"]
        form = urlencode({"refresh_token": response.json["RefreshToken"]}).encode()
        assert post(client, "/v2/token/refresh", form, content_type=content_type).status == 200


@pytest.mark.parametrize(
    ("body", "content_type", "fields"),
    [
        (b"", "", {"username", "password"}),
        (b"", FORM, {"username", "password"}),
        (b"{}", "", {"username", "password"}),
        (b'{"username": "a"}', "", {"password"}),
        (b'{"username": "", "password": null}', "", {"username", "password"}),
        (b'{"username": ["a"], "password": {}}', "", {"username", "password"}),
        (b'{"username": 1, "password": true}', "", {"username", "password"}),
        (b'{"username": "%s", "password": "b"}' % (b"a" * 5000), "", {"username"}),
        (b"username=a&username=b&password=c", FORM, {"username"}),
        (b"username=%zz&password=c", FORM, {"username"}),
        (b"username=%ff&password=c", FORM, {"username"}),
        (b"username=a&password=b", "application/json", {"body"}),
        (b"[]", "", {"body"}),
        (b"{", "", {"body"}),
        (b"\xff\xfe", "", {"body"}),
        (b'{"username": "\\ud800", "password": "b"}', "", {"body"}),
        (b"[" * 10_000, "", {"body"}),
        (b"a&" * 40_000, FORM, {"body"}),
        (b'{"username": "test_user_RS001", "password": "test_password_RS001"}', FORM, {"body"}),
        (b'{"a": "%s"}' % (b"a" * 70_000), "", {"body"}),
    ],
)
def test_a_missing_or_malformed_field_is_a_400_with_its_name(body: bytes, content_type: str, fields: set[str]) -> None:
    with running() as client:
        response = post(client, "/v2/token", body, content_type=content_type)
        assert response.status == 400
        assert set(response.json["errors"]) == fields
        assert response.json["message"]


@pytest.mark.parametrize(
    ("username", "password", "said"),
    [
        (USER, "wrong", "the password is wrong"),
        (USER, PASSWORD + " ", "the password is wrong"),
        (USER, PASSWORD.upper(), "the password is wrong"),
        (USER, "\0", "the password is wrong"),
        (USER.upper(), PASSWORD, "this sandbox has no user of this name"),
        ("nobody", "\N{PILE OF POO}", "this sandbox has no user of this name"),
    ],
)
def test_wrong_credentials_are_401_without_saying_which_part_was_wrong(username: str, password: str, said: str) -> None:
    with running() as client:
        response = post(client, "/v2/token", {"username": username, "password": password})
        assert response.status == 401
        newest = client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]
        assert newest["diagnosis"] == said
        assert response.json == {"message": response.json["message"], "errors": {}}
        assert response.json == post(client, "/v2/token", {"username": "x", "password": "y"}).json
        assert diagnosis(response) == "no user of this sandbox has this name and this password"


def test_a_body_over_ten_megabytes_is_refused_by_its_announcement() -> None:
    with running() as client:
        response = client.send("POST", "/v2/token", "", b"", {"content-length": str(10 * 1024 * 1024 + 1)})
        assert response.status == 400
        assert set(response.json["errors"]) == {"body"}


@pytest.mark.parametrize(
    ("shape", "members"),
    [("both", FIVE | {"AuthenticationResult"}), ("wrapped", {"AuthenticationResult"}), ("flat", FIVE)],
)
def test_the_shape_of_the_answer_is_a_choice(shape: str, members: set[str]) -> None:
    with running({"assume": {"token-answer": shape}}) as client:
        assert set(login(client)) == members


# Refreshing


def test_a_refresh_token_gives_new_tokens_and_stays_in_use() -> None:
    with running() as client:
        first = login(client)
        client.advance(HOUR)
        for _ in range(2):
            response = refresh(client, first["RefreshToken"])
            assert response.status == 200
            assert response.json["RefreshToken"] is None
            assert response.json["IdToken"] != first["IdToken"]
            assert get(client, response.json["IdToken"]).status == 200


def test_refreshing_may_issue_a_new_refresh_token() -> None:
    with running({"assume": {"refreshed-token": "new"}}) as client:
        first = login(client)["RefreshToken"]
        client.advance(60)
        second = refresh(client, first).json["RefreshToken"]
        assert second != first
        assert refresh(client, second).status == refresh(client, first).status == 200


def test_an_invalid_refresh_token_is_401() -> None:
    with running() as client:
        tokens = login(client)
        for wrong, said in (
            (tokens["IdToken"], "send the RefreshToken"),
            (tokens["AccessToken"], "send the RefreshToken"),
            (tokens["RefreshToken"] + "x", ""),
            ("nonsense", "not a JSON Web Token"),
        ):
            response = refresh(client, wrong)
            assert (response.status, response.json["errors"]) == (401, {})
            assert said in diagnosis(response)
        client.advance(DAYS_30 - 1)
        assert refresh(client, tokens["RefreshToken"]).status == 200
        client.advance(1)
        assert "expired" in diagnosis(refresh(client, tokens["RefreshToken"]))


@pytest.mark.parametrize("body", [{}, {"refresh_token": None}, {"refresh_token": ""}, {"refreshToken": "x"}])
def test_a_missing_refresh_token_is_400(body: dict[str, Any]) -> None:
    with running() as client:
        response = post(client, "/v2/token/refresh", body)
        assert (response.status, set(response.json["errors"])) == (400, {"refresh_token"})


# Bearer tokens on requests


def test_the_id_token_lets_in_and_no_other() -> None:
    with running() as client:
        tokens = login(client)
        assert get(client, tokens["IdToken"]).json == client.call("GET", "/v2/balance").json
        for name in ("AccessToken", "RefreshToken"):
            response = get(client, tokens[name])
            assert (response.status, response.json["error"]) == (401, "invalid_token")
            assert diagnosis(response) == f"this is the {name}; send the IdToken"


def test_a_payment_by_token_is_the_same_payment() -> None:
    with running() as client:
        token = login(client)["IdToken"]
        assert pay_by_token(client, token).data["status"] == "Accepted"
        assert client.pay("r-1").data == pay_by_token(client, token).data


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   "])
def test_the_scheme_is_case_insensitive(scheme: str) -> None:
    with running() as client:
        token = login(client)["IdToken"]
        assert client.send("GET", "/v2/balance", headers={"authorization": scheme + token}).status == 200


@pytest.mark.parametrize(
    ("authorization", "error"),
    [
        ("", "missing_api_key"),
        ("Basic dXNlcjpwYXNz", "missing_api_key"),
        ("Bearerx", "missing_api_key"),
        ("Bearer", "invalid_token"),
        ("Bearer ", "invalid_token"),
        ("Bearer a.b.c", "invalid_token"),
        ("Bearer {token}, Bearer {token}", "invalid_token"),
        ("Bearer {token}.x", "invalid_token"),
        ("Bearer \xff\xfe", "invalid_token"),
        ("Bearer " + "x" * 60_000, "invalid_token"),
    ],
)
def test_anything_else_in_authorization_is_401(authorization: str, error: str) -> None:
    with running() as client:
        text = authorization.replace("{token}", login(client)["IdToken"])
        for path in ("/v2/balance", "/v2/catalog"):
            response = client.send("GET", path, headers={"authorization": text})
            assert (response.status, response.json["error"]) == (401, error)


def test_tokens_live_by_the_sandboxs_clock() -> None:
    with running() as client:
        token = login(client)["IdToken"]
        client.advance(HOUR - 1)
        assert get(client, token).status == 200
        client.advance(1)
        assert "expired just now" in diagnosis(get(client, token))


def test_tokens_issued_within_a_second_live_as_long_as_they_say_from_then_on() -> None:
    with running({"limits": {"token_lifetime": "90s", "refresh_token_lifetime": "2m"}}) as client:
        client.advance(0.75)
        tokens = login(client)
        client.advance(89.999)
        assert get(client, tokens["IdToken"]).status == 200
        client.advance(0.001)
        assert "expired just now" in diagnosis(get(client, tokens["IdToken"]))
        client.advance(29.999)
        assert refresh(client, tokens["RefreshToken"]).status == 200
        client.advance(0.25)
        assert "expired 0.249 s ago" in diagnosis(refresh(client, tokens["RefreshToken"]))


def test_lifetimes_are_a_scenarios_to_set() -> None:
    with running({"limits": {"token_lifetime": "90s", "refresh_token_lifetime": "2m"}}) as client:
        tokens = login(client)
        assert tokens["ExpiresIn"] == 90
        client.advance(90)
        assert get(client, tokens["IdToken"]).status == 401
        assert refresh(client, tokens["RefreshToken"]).status == 200
        client.advance(30)
        assert refresh(client, tokens["RefreshToken"]).status == 401


def test_a_token_from_before_a_reset_is_not_valid_yet() -> None:
    with running({"clock": {"mode": "manual", "start": "2026-11-21T04:00:00Z"}}) as client:
        client.advance(60)
        token = login(client)["IdToken"]
        client.sim("POST", "/sandboxes/default/reset")
        assert "becomes valid in 60 s" in diagnosis(get(client, token))


def test_the_api_key_counts_when_both_are_sent() -> None:
    with running() as client:
        token = login(client)["IdToken"]
        both = {"authorization": f"Bearer {token}"}
        assert client.call("GET", "/v2/balance", headers={"authorization": "Bearer x"}).status == 200
        assert client.call("GET", "/v2/balance", headers=both, key="unknown").json["error"] == "invalid_api_key"
        assert client.call("GET", "/v2/balance", headers=both, timestamp=1).json["error"] == "timestamp_expired"
        assert get(client, token, x_api_key="").status == 200
        assert client.send("GET", "/v2/balance", headers=both | {"x-api-key": ""}).status == 200


def test_a_token_needs_no_nonce_but_has_the_same_bound_on_the_body() -> None:
    with running({"faults": [{"when": {}, "then": {"nonce_service": "down"}}]}) as client:
        token = login(client)["IdToken"]
        assert get(client, token).status == get(client, token).status == 200
        assert client.call("GET", "/v2/balance").status == 503
        headers = {"authorization": f"Bearer {token}", "content-length": str(10 * 1024 * 1024 + 1)}
        assert client.send("POST", "/v2/topup", headers=headers).json["error"] == "body_too_large"


def test_a_nonce_fault_that_looks_into_the_body_passes_tokens_by() -> None:
    fault = {"when": {"path": "/v2/topup", "product": "RELOAD"}, "then": {"nonce_service": "down"}}
    with running({"faults": [fault]}) as client:
        assert pay_by_token(client, login(client)["IdToken"]).status == 200
        assert client.pay("r-2").status == 503


def test_faults_know_the_reseller_of_a_token_and_internal_errors_have_each_endpoints_shape() -> None:
    faults = [
        {"when": {"path": "/v2/token*"}, "times": 1, "then": {"internal_error": True}},
        {"when": {"reseller": "RS001"}, "times": 1, "then": {"internal_error": True}},
    ]
    with running({"faults": faults}) as client:
        refused = post(client, "/v2/token", CREDENTIALS)
        assert (refused.status, refused.json["errors"]) == (401, {})
        token = login(client)["IdToken"]
        assert get(client, token, "/v2/catalog").json["error"] == "internal_error"
        assert get(client, token, "/v2/catalog").status == 200


def test_an_allowlist_keeps_tokens_out_too() -> None:
    with running() as client:
        tokens = login(client)
        client.sim("PATCH", SETTINGS, {"ip_allowlist": ["10.0.0.0/8"]})
        for response in (
            get(client, tokens["IdToken"]),
            post(client, "/v2/token", CREDENTIALS),
            refresh(client, tokens["RefreshToken"]),
        ):
            assert (response.status, response.json["error"]) == (403, "ip_not_allowed")
        assert post(client, "/v2/token", CREDENTIALS | {"password": "wrong"}).status == 401


def test_a_scenario_may_keep_tokens_to_the_legacy_endpoints() -> None:
    with running(NARROW) as client:
        token = login(client)["IdToken"]
        refused = get(client, token)
        assert (refused.status, refused.json["error"]) == (401, "missing_api_key")
        assert diagnosis(refused) == "a bearer token is not accepted here"
        assert pay_by_token(client, token).status == 200
        assert get(client, token, "/v1/interbank/billers?limit=1&page=1").status == 200


# Topup for API keys alone


def restrict(client: Client, on: bool) -> None:
    changed = client.sim("PATCH", SETTINGS, {"require_api_key_for_topup": on})
    assert changed.json["require_api_key_for_topup"] is on


def test_topup_closes_to_tokens_five_minutes_after_the_setting_was_changed_and_opens_as_late() -> None:
    with running({"limits": {"token_lifetime": "1d"}}) as client:
        token = login(client)["IdToken"]
        restrict(client, True)
        client.advance(299)
        assert pay_by_token(client, token).status == 200
        client.advance(1)
        refused = pay_by_token(client, token)
        assert (refused.status, refused.json["error"]) == (403, "api_key_required")
        assert "API-key authentication for topup" in refused.json["message"]
        assert client.pay("r-1").status == get(client, token).status == 200
        restrict(client, True)
        restrict(client, False)
        client.advance(299)
        assert pay_by_token(client, token).status == 403
        client.advance(1)
        assert pay_by_token(client, token).status == 200


def test_each_change_acts_five_minutes_after_it_was_made() -> None:
    with running() as client:
        token = login(client)["IdToken"]
        restrict(client, True)
        client.advance(120)
        restrict(client, False)
        seen = []
        for seconds in (179, 1, 119, 1):
            client.advance(seconds)
            seen.append(pay_by_token(client, token).status)
        assert seen == [200, 403, 403, 200]


def test_the_delay_is_a_scenarios_to_set() -> None:
    with running({"limits": {"settings_delay": "0s"}}) as client:
        token = login(client)["IdToken"]
        restrict(client, True)
        assert pay_by_token(client, token).status == 403


def test_a_setting_of_the_scenario_acts_from_the_start() -> None:
    resellers = [{"code": "RS001", "settings": {"require_api_key_for_topup": True}}]
    with running({"resellers": resellers}) as client:
        token = login(client)["IdToken"]
        assert pay_by_token(client, token).status == 403
        assert post(client, "/v2/topup", b"no JSON", authorization=f"Bearer {token}").status == 403
        assert client.pay().status == 200


# Deprecation


@pytest.mark.parametrize(("form", "value"), [("rfc9745", "@1789516800"), ("draft", "true"), ("none", None)])
def test_answers_to_tokens_say_that_they_are_deprecated(form: str, value: str | None) -> None:
    with running({"assume": {"deprecation-header": form}}) as client:
        issued = post(client, "/v2/token", CREDENTIALS)
        token = issued.json["IdToken"]
        for response in (issued, get(client, token), get(client, "x"), refresh(client, "x")):
            assert response.headers.get("deprecation") == value
        assert "deprecation" not in client.call("GET", "/v2/balance").headers


def test_answers_that_come_before_the_token_is_read_are_deprecated_too() -> None:
    early = {"when": {"headers": {"x-early": "yes"}}, "then": {"status": 504}}
    with running({"faults": [early], "limits": {"requests_per_interval": 5}}) as client:
        answers = [
            get(client, "x", "/v2/nowhere"),
            client.send("POST", "/v2/balance", "", b"", {"authorization": "Bearer x"}),
            get(client, "x", "/v2/balance", **{"x-sim-rule": "none"}),
            get(client, "x", "/v2/balance", **{"x-early": "yes"}),
            client.send("GET", "/v2/token"),
            get(client, "x", "/v2/balance"),
            client.call("GET", "/v2/product-list"),
        ]
        found = [(answer.status, answer.headers.get("deprecation")) for answer in answers]
    with running() as client:
        signed = [client.call("GET", target).headers for target in ("/v2/balance", "/v2/nowhere")]
    assert found == [(status, "@1789516800") for status in (404, 405, 400, 504, 405, 403, 403)]
    assert all("deprecation" not in headers for headers in signed)


# The journal


def journal(client: Client, n: int, sandbox: str = "default") -> str:
    shown = client.sim("GET", f"/sandboxes/{sandbox}/requests/{n}")
    assert shown.status == 200
    return shown.body.decode()


@pytest.mark.parametrize(
    ("body", "query", "content_type"),
    [
        (b'{"username": "test_user_RS001", "password": "test_password_RS001"}', "", ""),
        (b'{"username": "test_user_RS001", "pasword": "test_password_RS001"}', "", ""),
        (b'{"username": "test_user_RS001", "a": {"b": ["test_password_RS001"]}}', "", ""),
        (b'{"username": "test_user_RS001", "password": "test_password_RS001"', "", ""),
        (b"username=test_user_RS001&password=test_password_RS001", "", FORM),
        (b"username=test_user_RS001&test_password_RS001", "", FORM),
        (b"test_password_RS001", "", FORM),
        (b"\xff=test_password_RS001", "", FORM),
        (b"", "username=test_user_RS001&password=test_password_RS001", ""),
    ],
)
def test_the_journal_shows_no_password(body: bytes, query: str, content_type: str) -> None:
    with running() as client:
        headers = {"content-type": content_type}
        answer = client.send("POST", "/v2/token", query, body, headers)
        shown = journal(client, 1) + client.sim("GET", "/sandboxes/default/requests").body.decode()
        assert PASSWORD not in shown
        assert "(not shown)" in shown
        if answer.status == 200:
            assert USER in shown
            assert not [token for token in ("AccessToken", "IdToken", "RefreshToken") if answer.json[token] in shown]


def test_the_journal_masks_tokens_and_keeps_the_events() -> None:
    with running() as client:
        tokens = login(client)
        get(client, tokens["IdToken"])
        refresh(client, tokens["RefreshToken"])
        refresh(client, "wrong.wrong.wrong")
        shown = "".join(journal(client, n) for n in (1, 2, 3, 4))
        assert not [token for token in tokens.values() if isinstance(token, str) and "." in token and token in shown]
        assert "wrong.wrong.wrong" not in shown
        assert "ExpiresIn" in shown
        rows = client.sim("GET", "/sandboxes/default/requests").json["requests"]
        assert [row["reseller"] for row in rows] == ["", "RS001", "RS001", "RS001"]
        assert rows[0]["error"] == "invalid_credentials"
        assert "not a JSON Web Token" in rows[0]["diagnosis"]


# Sandboxes


def test_a_token_is_valid_in_its_own_sandbox_only() -> None:
    with running() as client:
        scenario = {"scenario": "x", "extends": "default", "clock": {"mode": "manual"}}
        client.sandbox(scenario, "a")
        client.sandbox(scenario, "b")
        tokens = login(client, "/s/a")
        at_a = client.send("GET", "/s/a/v2/balance", headers={"authorization": f"Bearer {tokens['IdToken']}"})
        at_b = client.send("GET", "/s/b/v2/balance", headers={"authorization": f"Bearer {tokens['IdToken']}"})
        assert (at_a.status, at_b.status) == (200, 401)
        assert diagnosis(at_b) == "the token belongs to the sandbox 'a', and this is 'b': use the other address"
        assert refresh(client, tokens["RefreshToken"], "/s/b").status == 401
        at_root = get(client, tokens["IdToken"])
        assert (at_root.status, at_root.headers["x-sim-sandbox"]) == (401, "default")


def test_equal_sandboxes_issue_equal_tokens() -> None:
    def issued() -> Any:
        with running({"clock": {"mode": "manual", "start": "2026-11-21T04:00:00Z"}}) as client:
            return login(client)

    assert issued() == issued()


def test_unique_credentials_lead_to_their_sandbox_from_the_root() -> None:
    with running() as client:
        made = client.sim("POST", "/sandboxes", {"id": "u", "credentials": "unique", "clock": {"mode": "manual"}}).json
        username = made["resellers"][0]["username"]
        assert username != USER
        for body, content_type in (
            (CREDENTIALS | {"username": username}, ""),
            (urlencode(CREDENTIALS | {"username": username}).encode(), FORM),
        ):
            answer = post(client, "/v2/token", body, content_type=content_type)
            assert (answer.status, answer.headers["x-sim-sandbox"]) == (200, "u")
        tokens = answer.json
        for response in (
            get(client, tokens["IdToken"]),
            refresh(client, tokens["RefreshToken"]),
            client.send("GET", "/s/u/v2/balance", headers={"authorization": f"Bearer {tokens['IdToken']}"}),
        ):
            assert (response.status, response.headers["x-sim-sandbox"]) == (200, "u")
        assert login(client)["IdToken"] != tokens["IdToken"]
        assert get(client, login(client)["IdToken"]).headers["x-sim-sandbox"] == "default"
        assert client.call("GET", "/v2/balance").headers["x-sim-sandbox"] == "default"


def test_a_failed_call_at_the_root_belongs_to_the_default_sandbox_unless_its_username_is_of_another() -> None:
    with running() as client:
        made = client.sim("POST", "/sandboxes", {"id": "u", "credentials": "unique", "clock": {"mode": "manual"}}).json
        username = made["resellers"][0]["username"]
        tokens = login(client, username=username)
        refused = post(client, "/v2/token", {"username": username, "password": "wrong"})
        assert (refused.status, refused.headers["x-sim-sandbox"]) == (401, "u")
        for response in (
            post(client, "/v2/token", b"no JSON"),
            post(client, "/v2/token", {"username": ["x"], "password": "y"}),
            post(client, "/v2/token", b"x" * 200_000),
            get(client, tokens["AccessToken"]),
            refresh(client, tokens["IdToken"]),
            refresh(client, 7),
        ):
            assert response.status in (400, 401)
            assert response.headers["x-sim-sandbox"] == "default"
        client.sim("DELETE", "/sandboxes/u")
        assert get(client, tokens["IdToken"]).status == 401
        assert post(client, "/v2/token", CREDENTIALS | {"username": username}).status == 401


def test_users_of_a_reseller_that_was_added_can_log_in_and_usernames_are_taken_once() -> None:
    with running() as client:
        wanted = {"code": "RS9", "users": [{"username": "nine", "password": "p"}]}
        assert client.sim("POST", "/sandboxes/default/resellers", wanted).status == 201
        token = post(client, "/v2/token", {"username": "nine", "password": "p"}).json["IdToken"]
        assert get(client, token).data["balance"] == 0
        again = client.sim("POST", "/sandboxes/default/resellers", wanted | {"code": "RS10"})
        assert (again.status, again.json["error"]) == (409, "username_exists")


def test_a_token_of_a_user_that_is_gone_is_refused() -> None:
    with running() as client:
        for holder in (TokenHolder("ghost", "RS001"), TokenHolder(USER, "RS404")):
            token = issue(
                realm_of(client.live),
                Use.ID,
                holder,
                client.live.clock.now(),
                client.live.scenario.limits.token_lifetime,
            )
            assert "no user" in diagnosis(get(client, token))
