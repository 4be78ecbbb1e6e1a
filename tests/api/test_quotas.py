"""Quotas of a sandbox: payments, bytes, requests a second, refused in the service's shape and said in the journal."""

from pathlib import Path
from typing import Any

import pytest

from simulator.runtime.lives import NO_QUOTAS, Quotas, RequestPace, quotas
from tests.support.client import Client, Response, running
from tests.support.data_folders import serving
from tests.support.replaying import assert_replays
from tests.support.wall import Wall


def code(answer: Response) -> Any:
    return answer.json.get("error")


def newest(client: Client, sandbox: str = "default") -> Any:
    return client.sim("GET", f"/sandboxes/{sandbox}/requests?limit=1").json["requests"][0]


def test_no_quota_applies_without_a_flag() -> None:
    with running() as client:
        assert client.live.spec.quotas is NO_QUOTAS
        assert "quotas" not in client.sim("GET", "/sandboxes/default").json


def test_one_payment_more_than_a_sandbox_may_have_is_refused_and_the_others_are_found_again() -> None:
    with running(quotas=(2, None, None)) as client:
        assert [client.pay(f"r-{number}").status for number in range(2)] == [200, 200]
        refused = client.pay("r-2")
        assert (refused.status, code(refused)) == (403, "quota_transactions")
        assert refused.json["message"] == (
            "This sandbox has a quota of 2 payments. It has as many payments as it may; a reset empties it."
        )
        shown = newest(client)
        assert (shown["status"], shown["error"]) == (403, "quota_transactions")
        assert "the quota of this sandbox is 2 payments; POST /_sim/sandboxes" in shown["diagnosis"]
        assert [client.pay(f"r-{number}").data["refid"] for number in range(2)] == ["r-0", "r-1"]
        assert client.call("GET", "/v2/balance").status == 200
        assert len(client.live.core.state.transactions) == 2
        assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]
        assert_replays(client.app)
        assert client.sim("POST", "/sandboxes/default/reset").status == 200
        assert client.pay("r-2").status == 200


def test_a_sandbox_that_has_used_its_bytes_only_answers_the_reason_until_it_is_reset() -> None:
    with running(quotas=(None, 20_000, None)) as client:
        count = 0
        while client.pay(f"r-{count}").status == 200:
            count += 1
            assert count < 100
        for answer in (client.pay("more"), client.call("GET", "/v2/balance"), client.send("GET", "/nowhere")):
            assert (answer.status, code(answer)) == (403, "quota_bytes")
        assert newest(client)["error"] == "quota_bytes"
        assert len(client.live.core.state.transactions) == count
        assert_replays(client.app)
        client.sim("POST", "/sandboxes/default/reset")
        assert client.pay("more").status == 200


@pytest.mark.parametrize(
    ("quotas", "expected"), [((None, 20_000, None), "quota_bytes"), ((None, None, 5), "quota_rate")]
)
def test_requests_for_a_missing_sandbox_count_for_the_sandbox_that_records_them(quotas: Any, expected: str) -> None:
    with running(quotas=quotas) as client:
        codes = [code(client.send("GET", f"/s/nosuch/v2/{'x' * 500}{number}")) for number in range(60)]
        assert codes[0] == "unknown_sandbox"
        assert codes[-1] == expected
        assert client.live.tape.bytes < 200_000
        assert_replays(client.app)


def test_a_body_that_is_refused_ahead_is_not_read() -> None:
    with running(quotas=(None, 1, None)) as client:
        client.call("GET", "/v2/balance")
        answer = client.call("POST", "/v2/topup", b"x" * 1_000_000)
        assert code(answer) == "quota_bytes"
        assert client.live.tape.bytes < 100_000


@pytest.mark.parametrize("limits", [{"tape": 0}, {"tape": 3}, {"tape_bytes": 1024}])
def test_bytes_are_counted_also_where_the_tape_has_no_room_for_them(limits: dict[str, int], tmp_path: Path) -> None:
    """A sandbox with a scenario of its own would have no bound otherwise."""
    own = {"id": "own", "scenario": {"extends": "default", "limits": limits}}
    with serving(tmp_path / "data", quotas=(None, 20_000, None)) as client:
        assert client.sim("POST", "/sandboxes", own).status == 201
        count = 0
        while client.pay(f"r-{count}", sandbox="own").status == 200:
            count += 1
            assert count < 100
        assert code(client.pay("more", sandbox="own")) == "quota_bytes"
        assert client.app.sandboxes.get("own").tape.left_out
    with serving(tmp_path / "data") as client:
        assert code(client.pay("more", sandbox="own")) == "quota_bytes"
        client.sim("POST", "/sandboxes/own/reset")
        assert client.pay("more", sandbox="own").status == 200


def test_bytes_are_counted_also_when_the_tapes_of_all_have_used_their_budget() -> None:
    with running(quotas=(None, 20_000, None), tapes_bytes_max=5_000) as client:
        answers = [client.call("GET", "/v2/balance") for _ in range(40)]
        assert (answers[0].status, code(answers[-1])) == (200, "quota_bytes")
        assert client.live.tape.bytes < 5_000


def test_more_requests_a_second_than_a_sandbox_may_have_are_refused_until_time_has_passed() -> None:
    wall = Wall()
    with running(wall=wall, quotas=(None, None, 3)) as client:

        def burst() -> list[int]:
            return [client.call("GET", "/v2/balance").status for _ in range(5)]

        assert burst() == [200, 200, 200, 403, 403]
        assert newest(client)["error"] == "quota_rate"
        client.pass_time(0.4)
        assert burst() == [200, 403, 403, 403, 403]
        client.pass_time(60)
        assert burst() == [200, 200, 200, 403, 403]
        assert client.sim("GET", "/sandboxes/default/requests").status == 200  # control requests are not counted
        assert_replays(client.app)


def test_each_sandbox_has_its_own() -> None:
    with running(quotas=(1, None, 2)) as client:
        for name in ("one", "two"):
            made = client.sim("POST", "/sandboxes", {"id": name})
            assert made.json["quotas"] == {"transactions": 1, "rate": 2}
        assert client.pay("a", sandbox="one").status == 200
        assert code(client.pay("b", sandbox="one")) == "quota_transactions"
        assert client.pay("c", sandbox="two").status == 200


@pytest.mark.parametrize(
    ("server", "asked", "has"),
    [
        ((None, None, None), {}, None),
        ((None, None, None), {"transactions": 0}, None),
        ((None, None, None), {"transactions": 5, "rate": 0.5}, {"transactions": 5, "rate": 0.5}),
        ((10, None, None), {}, {"transactions": 10}),
        ((10, None, None), {"transactions": 10, "bytes": 7}, {"transactions": 10, "bytes": 7}),
        ((10, 900, 2.5), {"transactions": 3, "rate": 1}, {"transactions": 3, "bytes": 900, "rate": 1}),
    ],
)
def test_a_new_sandbox_has_what_it_asks_for_and_otherwise_what_the_server_has(
    server: tuple[Any, ...], asked: dict[str, Any], has: Any
) -> None:
    with running(quotas=server) as client:
        made = client.sim("POST", "/sandboxes", {"id": "mine", "quotas": asked})
        assert (made.status, made.json.get("quotas")) == (201, has)
        assert client.sim("GET", "/sandboxes/mine").json.get("quotas") == has


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"transactions": 11}, "quotas.transactions"),
        ({"transactions": 0}, "quotas.transactions"),
        ({"bytes": 901}, "quotas.bytes"),
        ({"rate": 2.6}, "quotas.rate"),
        ({"transactions": -1}, "quotas.transactions"),
        ({"transactions": 1.5}, "quotas.transactions"),
        ({"transactions": "1"}, "quotas.transactions"),
        ({"transactions": None}, "quotas.transactions"),
        ({"transactions": 10**30}, "quotas.transactions"),
        ({"rate": 10**9}, "quotas.rate"),
        ({"memory": 1}, "quotas.memory"),
        ([], "quotas"),
    ],
)
def test_quotas_above_the_server_limits_or_without_sense_are_refused(asked: Any, path: str) -> None:
    with running(quotas=(10, 900, 2.5)) as client:
        answer = client.sim("POST", "/sandboxes", {"id": "mine", "quotas": asked})
        assert (answer.status, answer.json["path"]) == (400, path), answer.json
        assert len(list(client.app.sandboxes)) == 1


@pytest.mark.parametrize("bounds", [(1, None, None), (None, 10_000, None), (None, None, 3)])
def test_a_value_that_a_quota_refused_is_refused_in_a_fork_and_under_another_name_too(bounds: Any) -> None:
    with running(wall=Wall(), quotas=bounds) as client:
        answers = [client.pay(f"r-{number}") for number in range(20)]
        assert 403 in [one.status for one in answers]
        made = client.sim("POST", "/sandboxes", {"id": "second", "fork": {"of": "default"}})
        assert made.status == 201, made.body
        assert newest(client, "second") == newest(client)


def test_a_fork_inherits_the_quotas_of_its_original_and_names_none() -> None:
    with running(quotas=(2, None, None)) as client:
        client.pay("a")
        made = client.sim("POST", "/sandboxes", {"id": "second", "fork": {"of": "default"}})
        assert made.json["quotas"] == {"transactions": 2}
        assert client.pay("b", sandbox="second").status == 200
        assert code(client.pay("c", sandbox="second")) == "quota_transactions"
        refused = client.sim("POST", "/sandboxes", {"fork": {"of": "default"}, "quotas": {"transactions": 1}})
        assert (refused.status, refused.json["path"]) == (400, "quotas")
        client.sim("POST", "/sandboxes/second/rewind", {"n": 1})
        assert client.pay("d", sandbox="second").status == 200


def test_quotas_survive_a_restart_with_other_server_flags(tmp_path: Path) -> None:
    with serving(tmp_path / "data", quotas=(2, 9_000_000, None)) as client:
        client.sim("POST", "/sandboxes", {"id": "mine", "quotas": {"transactions": 1}})
        assert client.pay("a", sandbox="mine").status == 200
        assert code(client.pay("b", sandbox="mine")) == "quota_transactions"
    with serving(tmp_path / "data") as client:
        assert client.sim("GET", "/sandboxes/mine").json["quotas"] == {"transactions": 1, "bytes": 9_000_000}
        assert code(client.pay("b", sandbox="mine")) == "quota_transactions"
        assert "quotas" not in client.sim("POST", "/sandboxes", {}).json


def test_a_pace_lets_a_second_s_worth_pass_at_once_and_follows_no_clock_that_goes_back() -> None:
    wall = Wall()
    pace = RequestPace(0.5)
    assert [pace.passes(wall()) for _ in range(3)] == [True, False, False]
    wall.pass_(-3600)
    assert not pace.passes(wall())
    wall.pass_(3600)
    assert not pace.passes(wall())
    wall.pass_(2.0)
    assert pace.passes(wall())


def test_null_and_zero_are_not_accepted_as_bounds() -> None:
    assert quotas() is quotas(0, 0, 0.0) is NO_QUOTAS
    assert not Quotas()
    assert quotas(rate=1.0)
