"""The table of magic accounts in the scenario language."""

from datetime import UTC, datetime, time, timedelta

import pytest

from simulator.domain.commands import CreatePayment
from simulator.domain.model.rule_book import magic_digits
from simulator.domain.model.rules import NO_MAGIC
from simulator.domain.model.transactions import Reason, Status, Step
from simulator.domain.sandbox import Sandbox
from simulator.scenario.library import load_scenario, names
from simulator.scenario.sections.rule_sections import finishing_after
from tests.support.readings import built, problems

SECOND = timedelta(seconds=1)


def timeline(*times: int, last: Status = Status.SUCCESSFUL) -> tuple[Step, ...]:
    """Accepted, Processing at each time but the last, `last` at the last."""
    *early, end = times
    steps = (Step(Status.PROCESSING, after=at * SECOND) for at in early)
    return (Step(Status.ACCEPTED), *steps, Step(last, after=end * SECOND))


AT_NOON = (Step(Status.ACCEPTED), Step(Status.SUCCESSFUL, at=time(12)))
LASTING = [
    (timeline(2, 5), 30, timeline(2, 30)),
    (timeline(2, 5, last=Status.FAILED), 3, timeline(2, 3, last=Status.FAILED)),
    (timeline(10, 60), 3, timeline(3, 3)),
    (timeline(2, last=Status.PROCESSING), 30, timeline(2, last=Status.PROCESSING)),
    ((Step(Status.SUCCESSFUL),), 30, (Step(Status.SUCCESSFUL),)),
    (
        (Step(Status.ACCEPTED), Step(Status.FAILED, requery=2)),
        30,
        (Step(Status.ACCEPTED), Step(Status.FAILED, requery=2)),
    ),
    (AT_NOON, 30, AT_NOON),
    ((), 30, ()),
]


@pytest.mark.parametrize(("steps", "seconds", "expected"), LASTING)
def test_only_the_time_of_the_final_status_moves(
    steps: tuple[Step, ...], seconds: int, expected: tuple[Step, ...]
) -> None:
    assert finishing_after(steps, seconds * SECOND) == expected


def test_scenarios_that_only_inherit_the_table_share_it() -> None:
    default = load_scenario("default").magic
    assert default.outcomes
    assert built("extends: default\n").magic is default
    assert built("extends: default\nmagic: { durations: { '5': 1d } }\n").magic is not default
    assert built("seed: 1\n").magic is NO_MAGIC
    assert built("extends: default\nmagic: null\n").magic is NO_MAGIC


SECTIONS = [("payments", "04"), ("faults", "04"), ("voids", "09"), ("disputes", "10"), ("bills", "15")]


@pytest.mark.parametrize(("section", "code"), SECTIONS)
def test_the_table_has_a_rule_for_every_duration(section: str, code: str) -> None:
    rules = load_scenario("default").magic.of(section)
    for digit in "01234":
        rule = rules[magic_digits(f"0120000{digit}{code}")]
        assert rule.label == (f"magic-{code}" if digit == "0" else f"magic-{digit}{code}")
    assert magic_digits(f"01200005{code}") not in rules
    assert magic_digits(None) not in rules


@pytest.mark.parametrize("name", names())
def test_every_bundled_scenario_has_magic_accounts(name: str) -> None:
    scenario = load_scenario(name)
    box = Sandbox(scenario, scenario.seed, datetime(2026, 11, 1, tzinfo=UTC))
    [code] = list(box.state.resellers)[:1]
    answer = box.apply(CreatePayment(code, "r", "PARKING", "0120000017", "10"), box.state.now)
    assert (answer.reason, answer.rule) == (Reason.BALANCE, "magic-17")


def test_a_section_without_magic_has_no_rules() -> None:
    assert not NO_MAGIC.of("payments")
    assert NO_MAGIC.names() == frozenset()


MISTAKES = [
    ("magic: { outcomes: { '1': { outcome: x } } }", "1:22: bad_digits '1' must be 2 digits in quotes"),
    ("magic: { outcomes: { '١٢': { outcome: x } } }", "1:22: bad_digits '١٢' must be 2 digits in quotes"),
    ("magic: { durations: { a: 1s } }", "1:23: bad_digits 'a' must be 1 digit in quotes"),
    ("magic: { outcomes: { 11: { outcome: x } } }", "1:22: key_not_text a key is text; write it in quotes"),
    ("magic: { outcomes: { '11': {} } }", "1:28: missing_key 'outcome' is missing"),
    (
        "magic: { outcomes: { '11': { outcome: x, payments: {} } } }",
        "1:52: out_of_range a mapping must not be empty",
    ),
    (
        "magic: { outcomes: { '11': { outcome: x, payment: {} } } }",
        "1:42: unknown_key there is no key 'payment' here (did you mean 'payments'?)",
    ),
    (
        "magic: { outcomes: { '11': { outcome: x, faults: { then: { after_commit: true } } } } }",
        "1:60: misplaced after_commit needs 'status', 'headers', 'disconnect', 'malformed', 'drip', 'delay' or 'hold'",
    ),
    (
        "magic: { then: [{ status: Succesful }, { after: 1s, status: Failed }] }",
        "1:61: timeline Failed cannot follow Succesful; Succesful is final",
    ),
    (
        "payments: [{ name: magic-00, then: [{ status: Failed }] }]\n"
        "magic: { then: [{ status: Failed }], outcomes: { '00': { outcome: x } } }",
        "1:20: duplicate 'magic-00' is the name of a magic account's rule",
    ),
    (
        "payments: [{ then: { refuse: Insufficient_Balance }, callbacks: { drop: true } }]",
        "1:54: misplaced a refused payment has no callbacks",
    ),
    (
        "payments: [{ then: { refuse: Insufficient_Balanse } }]",
        "1:30: unknown_value 'Insufficient_Balanse' is not one of",
    ),
    ("payments: [{ then: { remarks: x } }]", "1:20: missing_key 'refuse' is missing"),
    ("faults: [{ when: { new: maybe }, then: { status: 500 } }]", "1:25: type must be true or false, not 'maybe'"),
]


@pytest.mark.parametrize(("text", "problem"), MISTAKES)
def test_a_mistake_is_reported_with_its_position(text: str, problem: str) -> None:
    [found] = problems(text + "\n")
    assert found.startswith(problem)


def test_an_outcome_may_draw_one_of_several_with_each_duration() -> None:
    text = """\
magic:
  durations: { "5": 1h }
  then: usual
  outcomes:
    "18": { outcome: usual }
    "19":
      outcome: one of two
      payments: { then: { one_of: [{ weight: 3, then: usual }, { then: { refuse: Invalid_Account } }] } }
timelines:
  usual: [{ status: Accepted }, { after: 5s, status: Succesful }]
"""
    rules = built(text).magic.of("payments")
    usual, later, mixed = (rules[digits] for digits in ("018", "518", "519"))
    assert (usual.then.steps[1].after, later.then.steps[1].after) == (5 * SECOND, 3600 * SECOND)
    assert [(end, rule.label, rule.then.refusal is None) for end, rule in mixed.variants] == [
        (3, "magic-519", True),
        (4, "magic-519", False),
    ]
    assert mixed.variants[0][1].then == later.then
