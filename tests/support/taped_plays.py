"""Plays for a sandbox whose tape is replayed afterwards: loads, clocks, refusals, rules, drawn outcomes."""

from collections.abc import Callable
from typing import Any

from simulator.domain.model.rules import ScenarioOrigin, SourceLine
from simulator.domain.sandbox import Sandbox
from simulator.scenario.library import scenario_from_object
from tests.support import day_tape
from tests.support.anatomy import anatomy
from tests.support.client import Client

CLOCK = "/sandboxes/default/clock"
FIRST: dict[str, Any] = {
    "scenario": "first",
    "extends": "default",
    "clock": {"mode": "manual", "start": "2026-11-21T04:00:00Z"},
    "inboxes": {"callbacks": [{"status": 500}, {"status": 200}]},
    "schedule": [{"at": "30s", "deposit": {"reseller": "RS001", "amount": 5, "description": "early"}}],
}
SECOND: dict[str, Any] = FIRST | {
    "scenario": "second",
    "payments": [{"name": "fails", "times": 1, "then": [{"status": "Failed"}]}],
    "faults": [{"name": "late", "when": {"path": "/v2/balance"}, "nth": 2, "then": {"status": 504}}],
    "inboxes": {"callbacks": [{"status": 503}], "other": [{"status": 200}]},
    "schedule": [{"at": "2h", "deposit": {"reseller": "RS001", "amount": 7, "description": "late"}}],
    "expect": [{"calls": {"path": "/v2/topup"}, "count": {"min": 1}}],
}

CONDITIONS: dict[str, Any] = {
    "payments": [
        {"when": {"amount": {"more_than": "outstanding"}}, "then": {"refuse": "Invalid_Denomination"}},
        {"since": "30s", "until": "1m", "times": 1, "per": "account", "then": [{"status": "Failed"}]},
    ],
    "faults": [
        {"when": {"path": "/v2/topup", "new": False}, "nth": 2, "per": "refid", "then": {"status": 502}},
        {"when": {"time": {"from": "12:01", "to": "12:02"}}, "times": 1, "per": "key", "then": {"status": 502}},
    ],
}

DRAWING: dict[str, Any] = FIRST | {
    "timelines": {
        "late": [
            {"status": "Accepted"},
            {"after": "2s", "status": "Processing"},
            {"at": "12:10", "status": "Succesful"},
        ]
    },
    "payments": [
        {
            "name": "mixed",
            "when": {"account": "0123456789"},
            "then": {
                "one_of": [
                    {"weight": 3, "then": "late"},
                    {"weight": 2, "then": [{"status": "Succesful"}]},
                    {"then": {"refuse": "Invalid_Account"}},
                ]
            },
            "callbacks": [{"status": "Succesful", "drop": True}, {"again_after": "1h"}],
        }
    ],
    "voids": [{"then": {"one_of": [{"then": {"status": "Failed"}}, {"then": {"status": "Success"}}]}}],
    "faults": [
        {
            "when": {"path": "/v2/balance"},
            "then": {"one_of": [{"then": {"status": 500}}, {"then": {"after_commit": True, "status": 502}}]},
        }
    ],
    "magic": {
        "outcomes": {
            "98": {
                "outcome": "one of two",
                "payments": {"then": {"one_of": [{"then": "late"}, {"then": [{"status": "Failed"}]}]}},
            }
        }
    },
}


def load(client: Client, document: dict[str, Any]) -> None:
    client.run(client.app.load(scenario_from_object(document)))


def set_clock(client: Client, **wanted: Any) -> None:
    assert client.sim("PUT", CLOCK, wanted).status == 200


def a_load(client: Client) -> None:
    client.pay("before")
    load(client, SECOND)
    client.pay("after")
    client.call("GET", "/v2/balance")
    client.call("GET", "/v2/balance")
    client.advance()


def a_clock_that_runs_jumps_and_stops(client: Client) -> None:
    client.pay("under a manual clock")
    set_clock(client, mode="xN", rate=60)
    client.pass_time(1)
    client.pay("under a fast clock")
    set_clock(client, rate=2)
    client.pass_time(10)
    client.pay("under a slower clock")
    set_clock(client, now="2026-11-23T05:00:00Z")
    client.pay("after a jump")
    set_clock(client, mode="manual")
    client.pay("under a manual clock again")
    client.advance(90)


def new_resellers_and_refusals(client: Client) -> None:
    path = "/sandboxes/default/resellers"
    assert client.sim("POST", path, {"code": "RS001"}).status == 409
    assert client.sim("POST", path, {"code": "RS002", "catalog": {"RELOAD": {"is_active": False}}}).status == 201
    assert client.sim("POST", f"{path}/RS001/deposits", {"amount": "0.001"}).status == 400
    client.pay("refused", product="NOTHING")


def changes_at_run_time(client: Client) -> None:
    for method, path, body in (
        (
            "POST",
            "/rules",
            {"section": "payments", "rule": {"name": "x", "chance": 0.5, "then": [{"status": "Failed"}]}},
        ),
        ("PATCH", "/catalog/products/RELOAD", {"price_adjustment": {"type": "fixed", "value": 0.5}, "note": None}),
        ("PATCH", "/catalog/products/RELOAD?reseller=RS001", {"is_active": True}),
        ("PATCH", "/resellers/RS001/settings", {"ip_allowlist": ["127.0.0.0/8"]}),
        ("POST", "/resellers/RS001/api-keys", None),
        ("PUT", "/network/RELOAD", {"status": "Interruption"}),
    ):
        answer = client.sim(method, f"/sandboxes/default{path}", body)
        assert answer.status in (200, 201), (path, answer.body)
    client.pay("changed", amount=10.5, remarks="ä", extras={"unknown": [1, {"b": None}]})


def drawn_outcomes(client: Client) -> None:
    """Under timelines with names and times of day, callbacks by their status, and drawn outcomes."""
    load(client, DRAWING)
    rule = {"name": "late", "then": "late", "callbacks": [{"status": "Processing", "again_after": "1h"}]}
    assert client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule}).status == 201
    client.pay("by the added rule")
    assert client.sim("DELETE", "/sandboxes/default/rules/added-1").status == 204
    for number in range(12):
        client.pay(f"drawn-{number}")
        client.pay(f"magic-{number}", account="0000098")
        client.call("POST", "/v2/transactions/void", {"trxid": f"drawn-{number}"})
    client.call("GET", "/v2/balance")
    client.advance()


def a_long_day(client: Client) -> None:
    client.run(day_tape.play(client, "default"))


def conditions(client: Client) -> None:
    load(client, FIRST | CONDITIONS)
    rule = {"nth": 2, "per": "account", "when": {"any": [{"amount": {"more_than": 5}}]}, "then": [{"status": "Failed"}]}
    assert client.sim("POST", "/sandboxes/default/rules", {"section": "payments", "rule": rule}).status == 201
    for at in range(6):
        for _ in range(3):
            client.pay(f"r{at}", account=f"012345678{at % 2}")
        client.pay(f"e{at}", amount="90", product="ELECTRIC", account="210012345678")
        client.advance(20)


def everything(client: Client) -> None:
    a_clock_that_runs_jumps_and_stops(client)
    set_clock(client, mode="xN", rate=30)
    a_load(client)
    new_resellers_and_refusals(client)


def set_callback(client: Client) -> None:
    assert client.call("POST", "/v2/callback-url?url=inbox%3Acallbacks&method=POST").status == 200


PLAYS: list[Callable[[Client], None]] = [
    a_load,
    a_clock_that_runs_jumps_and_stops,
    new_resellers_and_refusals,
    changes_at_run_time,
    drawn_outcomes,
    a_long_day,
    conditions,
    everything,
]


def parts(box: Sandbox) -> tuple[Any, Any]:
    """Return the state and its scenario as separate values. Earlier compilations determine whether they share objects,
    and so do the caches of the catalog and of results. The place of a rule is left out, since it is only shown to
    people."""
    told = (SourceLine, ScenarioOrigin)
    left_out = ("compiler", "scenario", "publish", "categories")
    return anatomy(box.state, left_out, told=told, values_apart=True), anatomy(
        box.state.scenario, left_out=("catalog",), told=told
    )
