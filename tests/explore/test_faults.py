"""The catalogue, outages and storms: what is drawn can be loaded, and is drawn again."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from simulator.explore.fault_catalogue import (
    RESTART,
    Fault,
    crossed_requests,
    ordinal,
    overtaken_answers,
    restarts,
    single_faults,
)
from simulator.explore.observation import Observation
from simulator.explore.run_scenario import Base, document, rule_names
from simulator.explore.runs import text_of
from simulator.explore.storms import FAULTS_MAX, FAULTS_MIN, outages, storms
from simulator.scenario.library import load_scenario, problems
from tests.support.explored import FAST, ORDER, seen

KEYS = [(one.code, key.key) for one in load_scenario("default").resellers for key in one.keys if key.state == "active"]


def races() -> list[Fault]:
    return [*overtaken_answers(seen()), *restarts(seen()), *crossed_requests(seen())]


def everything() -> list[Fault]:
    return [*races(), *single_faults(seen()), *outages(seen(), KEYS, has_start=False)]


def checked(folder: Path, faults: tuple[Fault, ...]) -> list[str]:
    path = folder / "one.yaml"
    path.write_text(text_of(document(FAST, faults)))
    return [str(one) for one in problems(path)]


@pytest.mark.slow
def test_every_fault_passes_check_alone(tmp_path: Path) -> None:
    found = {one.words: wrong for one in everything() if (wrong := checked(tmp_path, (one,)))}
    assert found == {}


@pytest.mark.slow
def test_every_storm_passes_check(tmp_path: Path) -> None:
    drawn = list(islice(storms(3, everything()), 150))
    assert {
        frozenset(one.words for one in storm): wrong for storm in drawn if (wrong := checked(tmp_path, storm))
    } == {}
    assert {len(one) for one in drawn} == set(range(FAULTS_MIN, FAULTS_MAX + 1))
    assert {fault.place for storm in drawn for fault in storm} >= {"outage", "skew", "key", "the first POST /v2/topup"}


def test_equal_seeds_draw_equal_storms_and_another_seed_draws_others() -> None:
    first, again, other = (
        [[one.words for one in storm] for storm in islice(storms(seed, everything()), 20)] for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_without_two_faults_that_go_together_there_is_no_storm() -> None:
    assert list(storms(1, single_faults(Observation(exchanges={("GET", "/v2/balance"): 1})))) == []


def test_each_exchange_has_each_fault_once_with_what_costs_most_first() -> None:
    found = single_faults(seen())
    words = [one.words for one in found]
    assert len(set(words)) == len(words)
    assert sum(one.when.get("path") == "/v2/options" for one in found) == 4 * 7
    assert sum(one.when.get("path") == "/v2/topup" for one in found) == 5 * 10
    assert words.index("answer to the first POST /v2/topup lost after commit") < words.index(
        "answer to the first POST /v2/topup 5 s late"
    )


def test_a_payment_has_each_race_once() -> None:
    about = f"the payment of {ORDER}"
    assert [one.words for one in races() if one.payment is None or one.payment.nth == 1] == [
        f"the first callback of {about} during its request",
        f"answer to {about} late, after its first callback",
        f"answer to {about} late, after both of its callbacks",
        f"all callbacks of {about} at the same time",
        f"callback Processing of {about} sent twice at the same time",
        f"callback Succesful of {about} sent twice at the same time",
        "webhook balance.added sent twice at the same time",
        f"callback Processing of {about} while the client restarts",
        f"callback Succesful of {about} while the client restarts",
        f"answer to {about} lost after commit, and its retry crosses a re-query: its answer is stale",
        f"the first re-query of {about} answered late, with its callbacks during the request",
    ]


@pytest.mark.parametrize(("rate", "after_s", "late_s"), [(1, "1.000s", "1.500s"), (100, "100.000s", "150.000s")])
def test_an_answer_comes_between_two_callbacks_by_any_clock(rate: int, after_s: str, late_s: str) -> None:
    made = document(FAST, (overtaken_answers(seen(), rate)[1],))
    assert made["payments"][0]["then"][1]["after"] == after_s
    assert made["faults"][0]["then"] == {"after_commit": True, "delay": late_s}
    assert made["limits"]["integration_timeout"] is None


def test_a_callback_during_the_request_is_due_when_the_payment_is_made() -> None:
    made = document(FAST, (overtaken_answers(seen(), 100)[0],))
    assert [one.get("after") for one in made["payments"][0]["then"]] == [None, "0.000s", "100.000s"]
    assert made["faults"][0]["then"] == {"after_commit": True, "delay": "50.000s"}


def test_a_callback_waits_in_a_hold_until_the_client_restarts() -> None:
    [rule] = document(FAST, (restarts(seen())[0],))["payments"]
    assert rule["callbacks"] == [{"status": "Processing", "hold": RESTART}]


def test_the_later_of_two_requests_has_the_first_rule_so_that_both_are_counted() -> None:
    both = tuple(
        one for one in single_faults(seen()) if one.words.startswith("answer to the") and "lost after" in one.words
    )
    rules = document(FAST, both[:3])["faults"]
    assert [one["nth"] for one in rules] == sorted((one["nth"] for one in rules), reverse=True)


def test_faults_of_a_single_payment_are_a_single_rule() -> None:
    chosen = tuple(
        one
        for one in single_faults(seen())
        if one.payment is not None and one.payment.nth == 2 and one.payment.order == ORDER
    )
    hang = next(one for one in chosen if "hangs" in one.words)
    late = next(one for one in chosen if "callback Succesful" in one.words and "40 s late" in one.words)
    [rule] = document(FAST, (hang, late))["payments"]
    assert rule["nth"] == 2
    assert rule["then"][-1] == {"after": "245.000s", "status": "Succesful", "sn": "123"}
    assert rule["callbacks"] == [{"status": "Succesful", "delay": "40s"}]
    assert rule_names((hang, late)) == {rule["name"]}


@pytest.mark.parametrize(
    ("number", "text"), [(1, "first"), (10, "tenth"), (11, "11th"), (21, "21st"), (102, "102nd"), (113, "113th")]
)
def test_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text


def test_the_clock_of_the_storm_is_added_to_the_clock_of_the_user() -> None:
    base = Base("default", {"mode": "manual"}, seed=4)
    [ahead] = [one for one in outages(seen(), KEYS, has_start=True) if "ahead" in one.words]
    made = document(base, (ahead,))
    assert made["clock"] == {"mode": "manual", "skew": "4m"}
    assert made["seed"] == 4
    assert not any(one.place == "start" for one in outages(seen(), KEYS, has_start=True))


WINDOWS: dict[tuple[float, float], Any] = {
    (0.4, 1): ((2, 12), (0, 10), (2, 62), 10),
    (3.1, 1): ((4, 17), (0, 15), (4, 67), 12),
    (33, 100): ((22, 82), (0, 80), (22, 112), 30),
    (0, 100): ((2, 32), (0, 30), (2, 62), 10),
    (340, 1000): ((202, 802), (0, 800), (202, 1102), 210),
}


@pytest.mark.parametrize(("first_s", "rate"), WINDOWS)
def test_weather_begins_about_with_the_first_request_and_lasts_until_one_meets_it(first_s: float, rate: float) -> None:
    baseline = seen()
    baseline.first_s = first_s
    found = outages(baseline, KEYS, has_start=False, rate=rate)
    *spans, midnight = WINDOWS[first_s, rate]
    said = [one.words for one in found if "503" in one.words or "night" in one.words]
    wanted = [f"the service answers 503 from {begin} s to {end} s" for begin, end in spans]
    assert said == [*wanted, f"midnight comes after {midnight} s"]
    assert all(f"from {spans[0][0]} s to {spans[0][1]} s" in one.words for one in found if "revoked" in one.words)


@pytest.mark.slow
@pytest.mark.parametrize(("first_s", "rate"), [(0, 1.5), (50, 100), (10**6, 10**5), (10**12, 10**5)])
def test_weather_of_any_clock_can_be_loaded(first_s: float, rate: float, tmp_path: Path) -> None:
    baseline = seen()
    baseline.first_s = first_s
    for one in outages(baseline, KEYS, has_start=False, rate=rate):
        assert checked(tmp_path, (one,)) == []
