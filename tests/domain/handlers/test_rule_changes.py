"""Rules that are added to and removed from a running sandbox."""

from collections.abc import Mapping
from typing import Any

import pytest

from simulator.domain.commands import AddRule, CountFault, RemoveRule
from simulator.domain.errors import Conflict, Unknown
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Limits
from simulator.domain.model.transactions import Status
from simulator.domain.sandbox import Sandbox
from tests.support.fixed_compiler import FixedCompiler
from tests.support.worlds import ACCEPTED, START, after, order, pay, rule, scenario

AT_ONCE = {"at-once": (after(0, Status.SUCCESSFUL),)}


def running(*rules: Rule[Any], **more: Any) -> Sandbox:
    return Sandbox(scenario(*rules, timelines=AT_ONCE, **more), 7, START, compiler=FixedCompiler())


def add(box: Sandbox, document: Mapping[str, Any], section: str = "payments") -> Rule[Any]:
    added: Rule[Any] = box.apply(AddRule(section, document), START)
    return added


def test_an_added_rule_comes_before_the_rules_of_the_scenario() -> None:
    box = running(rule(ACCEPTED, name="slow"))
    added = add(box, {"name": "fast", "then": "at-once"})
    answer = pay(box)
    assert (added.id, answer.rule, answer.result.status) == ("added-1", "fast", Status.SUCCESSFUL)
    assert pay(box, order("ref-2")).rule == "fast"


def test_each_added_rule_has_an_id_of_its_own_and_its_document_is_kept() -> None:
    box = running()
    documents = [{"then": "at-once"}, {"id": "mine", "then": "at-once"}, {"then": "at-once"}]
    ids = [add(box, document).id for document in documents]
    assert ids == ["added-1", "mine", "added-3"]
    assert [(id_, one.rule_id, one.section) for id_, one in box.state.added.items()] == [
        ("added-1", "added-1", "payments"),
        ("mine", "added-2", "payments"),
        ("added-3", "added-3", "payments"),
    ]


@pytest.mark.parametrize("document", [{"id": "r1"}, {"name": "r1"}, {"id": "slow"}, {"name": "slow"}])
def test_a_name_or_id_that_is_taken_in_any_section_is_a_conflict(document: dict[str, str]) -> None:
    box = running(rule(ACCEPTED, name="slow"))
    with pytest.raises(Conflict) as refusal:
        add(box, document, "voids")
    assert (refusal.value.code, refusal.value.path) == ("rule_exists", "name")
    assert not box.state.added
    assert box.state.rules_added == 0


def test_there_are_at_most_as_many_rules_as_the_scenario_allows() -> None:
    box = running(rule(ACCEPTED), limits=Limits(rules=2))
    add(box, {"then": "at-once"}, "faults")
    with pytest.raises(Conflict, match="would have 3 rules"):
        add(box, {"then": "at-once"})


def test_a_removed_rule_never_decides_and_its_count_stays_in_the_coverage() -> None:
    box = running(rule(ACCEPTED, name="slow"))
    pay(box)
    box.apply(RemoveRule("r1"), START)
    assert pay(box, order("ref-2")).rule == ""
    assert (box.state.times_chosen("r1"), box.state.times_chosen("slow")) == (1, 1)
    assert not box.state.has_rule("slow")
    with pytest.raises(Unknown, match="'r1'"):
        box.apply(RemoveRule("r1"), START)


@pytest.mark.parametrize("label", ["slow", "r1"])
def test_a_rule_is_removed_by_its_name_or_id_and_never_by_an_empty_name(label: str) -> None:
    box = running(rule(ACCEPTED, name="slow"), rule(ACCEPTED, id_="other", name=""))
    for absent in ("", "fast"):
        with pytest.raises(Unknown):
            box.apply(RemoveRule(absent), START)
    box.apply(RemoveRule(label), START)
    assert [one.id for one, _ in box.state.payments.counted_rules()] == ["other"]


def test_a_removed_rule_makes_room_and_its_name_is_free() -> None:
    box = running(limits=Limits(rules=1))
    add(box, {"name": "one", "then": "at-once"})
    box.apply(RemoveRule("added-1"), START)
    assert not box.state.added
    assert add(box, {"name": "one", "then": "at-once"}).id == "added-2"


def test_faults_are_counted_as_matched_and_as_chosen() -> None:
    faults = tuple(Rule(id_, lambda facts: True, FaultThen()) for id_ in ("f1", "f2", "f3"))
    box = running(faults=faults)
    box.apply(CountFault(("f1", "f2"), "f2"), START)
    box.apply(CountFault((), "f3", is_selected=True), START)
    counts = [(count.matched, count.chosen, count.selected) for _, count in box.state.faults.counted_rules()]
    assert counts == [(1, 0, 0), (1, 1, 0), (0, 1, 1)]
