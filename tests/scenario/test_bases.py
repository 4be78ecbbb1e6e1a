"""`extends` with a list: two bases and more, that share bases of their own, or lead back to themselves."""

from pathlib import Path

import pytest

from simulator.domain.model.scenario import Scenario
from simulator.scenario.library import load_scenario, problems, scenario_from_object
from simulator.scenario.reading import sources
from simulator.scenario.reading.nodes import Document, ProblemReport
from simulator.scenario.reading.schema_check import check
from simulator.scenario.reading.sources import BASES_MAX, files_behind


def written(folder: Path, **texts: str) -> Path:
    """Files `NAME.yaml` with these texts; answers the last one."""
    for name, text in texts.items():
        path = folder / f"{name}.yaml"
        path.write_text(text)
    return path


def codes(path: Path) -> list[str]:
    return [f"{Path(one.source).stem}:{one.line}:{one.column}: {one.code}" for one in problems(path)]


FAIL = "then: [{ status: Failed }]"


def test_later_bases_hide_earlier_ones_and_the_file_hides_all(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        a=f"seed: 1\nlimits: {{ journal: 1, inbox: 1, rules: 1000 }}\nresellers: [{{ code: A }}]\n"
        f"payments: [{{ name: a, {FAIL} }}]\n",
        b=f"seed: 2\nlimits: {{ journal: 2, inbox: 2 }}\nresellers: [{{ code: B }}]\n"
        f"payments: [{{ name: b, {FAIL} }}]\n",
        mine=f"extends: [./a.yaml, b.yaml]\nlimits: {{ inbox: 3 }}\npayments: [{{ name: mine, {FAIL} }}]\n",
    )
    scenario = load_scenario(path)
    assert (scenario.seed, scenario.limits.journal, scenario.limits.inbox, scenario.limits.rules) == (2, 2, 3, 1000)
    assert [rule.name for rule in scenario.payments] == ["mine", "b", "a"]
    assert [reseller.code for reseller in scenario.resellers] == ["A", "B"]


def test_a_rule_of_the_later_base_wins_over_an_earlier_rule_of_its_name(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        a="resellers: []\nfaults: [{ name: x, then: { status: 500 } }, { name: y, then: { status: 501 } }]\n",
        b="faults: [{ name: x, then: { status: 502 } }]\n",
        mine="extends: [a.yaml, b.yaml]\n",
    )
    assert [(rule["name"], rule["then"]["status"]) for rule in load_scenario(path).document["faults"]] == [
        ("x", 502),
        ("y", 501),
    ]


def test_two_bundled_bases_are_both_in_force(tmp_path: Path) -> None:
    path = written(tmp_path, mine="extends: [slow-provider, lost-answers]\n")
    both = load_scenario(path)
    slow, lost = load_scenario("slow-provider"), load_scenario("lost-answers")
    assert [rule.name for rule in both.payments] == [rule.name for rule in slow.payments]
    assert [rule.name for rule in both.faults] == [rule.name for rule in lost.faults]
    assert both.catalog is slow.catalog is lost.catalog, "they share the catalog of the default scenario"
    again = scenario_from_object({"extends": ["slow-provider", "lost-answers"]})
    assert again.document["payments"] == both.document["payments"]


DIAMOND = {
    "base": f"seed: 1\nclock: manual\nresellers: [{{ code: A }}]\npayments: [{{ {FAIL} }}, {{ name: b, {FAIL} }}]\n"
    "expect: [{ outcome: payment-failed-after-processing }]\n"
    "schedule: [{ at: 1s, deposit: { reseller: A, amount: 1 } }]\n",
    "left": f"extends: base.yaml\nseed: 2\npayments: [{{ name: left, {FAIL} }}, {{ name: b, remove: true }}]\n",
    "right": f"extends: base.yaml\nclock: real\npayments: [{{ name: right, {FAIL} }}, {{ name: b, remove: true }}]\n",
}


def diamond(folder: Path, extends: str) -> Scenario:
    return load_scenario(written(folder, **DIAMOND, mine=f"extends: [{extends}]\n"))


def test_a_base_that_two_share_is_merged_once_below_both(tmp_path: Path) -> None:
    scenario = diamond(tmp_path, "left.yaml, right.yaml")
    assert (scenario.seed, scenario.clock.mode) == (2, "real"), "right does not bring back what left has changed"
    assert [rule.name for rule in scenario.payments] == ["right", "left", ""]
    assert (len(scenario.expect), len(scenario.schedule)) == (1, 1)


@pytest.mark.parametrize(
    "extends",
    [
        "base.yaml, left.yaml, right.yaml",
        "left.yaml, base.yaml, right.yaml",
        "left.yaml, right.yaml, base.yaml",
        "left.yaml, right.yaml, ./base.yaml, again.yaml",
    ],
)
def test_a_shared_base_that_is_named_once_more_changes_nothing(tmp_path: Path, extends: str) -> None:
    (tmp_path / "again.yaml").symlink_to("base.yaml")
    once = diamond(tmp_path, "left.yaml, right.yaml")
    assert diamond(tmp_path, extends).document == once.document


def test_a_shared_bundled_base_is_merged_once_too(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        left="extends: default\nseed: 77\n",
        right="extends: default\nlimits: { rules: 9 }\n",
        mine="extends: [left.yaml, right.yaml, default]\n",
    )
    scenario, default = load_scenario(path), load_scenario("default")
    assert (scenario.seed, scenario.limits.rules) == (77, 9)
    assert [rule.name for rule in scenario.payments] == [rule.name for rule in default.payments]
    assert len(scenario.document["magic"]["outcomes"]) == len(default.document["magic"]["outcomes"])


def test_each_base_is_checked_by_itself_and_its_mistake_reported_once(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        base="sed: 1\nresellers: []\n",
        left="extends: base.yaml\nclock: sideways\n",
        right="extends: base.yaml\nfaults: [{ name: x, remove: true }]\n",
        mine="extends: [left.yaml, right.yaml]\nclock: manual\n",
    )
    assert sorted(codes(path)) == ["base:1:1: unknown_key", "left:2:8: bad_clock", "right:2:18: unknown_name"]


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        ({"mine": "extends: [default, mine.yaml]\n"}, "mine:1:20"),
        ({"a": "extends: [default, mine.yaml]\n", "mine": "extends: [default, a.yaml]\n"}, "a:1:20"),
        ({"b": "extends: a.yaml\n", "a": "extends: [b.yaml]\n", "mine": "extends: [default, a.yaml]\n"}, "b:1:10"),
    ],
)
def test_a_loop_is_refused(tmp_path: Path, texts: dict[str, str], place: str) -> None:
    assert codes(written(tmp_path, **texts)) == [f"{place}: cycle"]


def test_the_depth_is_bounded_with_the_number_of_bases(tmp_path: Path) -> None:
    (tmp_path / "s0.yaml").write_text("resellers: []\n")
    for number in range(1, 500):
        (tmp_path / f"s{number}.yaml").write_text(f"extends: s{number - 1}.yaml\n")
    assert codes(tmp_path / f"s{BASES_MAX}.yaml") == []
    for number in (BASES_MAX + 1, 499):
        assert [code.rpartition(" ")[2] for code in codes(tmp_path / f"s{number}.yaml")] == ["too_big"]


def test_the_number_of_bases_is_bounded(tmp_path: Path) -> None:
    for number in range(BASES_MAX):
        (tmp_path / f"b{number}.yaml").write_text("resellers: []\n")

    def listed(start: int, end: int) -> str:
        return f"extends: [{', '.join(f'b{number}.yaml' for number in range(start, end))}]\n"

    texts = {"left": listed(0, 7), "right": listed(7, 14), "mine": "extends: [left.yaml, right.yaml]\n"}
    path = written(tmp_path, **texts)
    assert codes(path) == []
    assert len(files_behind(str(path))) == 1 + BASES_MAX
    assert codes(written(tmp_path, mine="extends: [left.yaml, right.yaml, b15.yaml]\n")) == ["mine:1:34: too_big"]
    assert codes(written(tmp_path, mine=listed(0, 9))) == ["mine:1:10: out_of_range"]
    assert codes(written(tmp_path, mine=listed(0, 16) + "seed: x\n")) == ["mine:1:10: out_of_range", "mine:2:7: type"]


def test_no_file_is_read_more_than_once_however_often_it_is_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven levels of two files; each file extends both files of the level below."""
    texts = {"a0": "resellers: []\n", "b0": "seed: 3\n"}
    for level in range(1, 7):
        for side in "ab":
            texts[f"{side}{level}"] = f"extends: [a{level - 1}.yaml, b{level - 1}.yaml]\n"
    path = written(tmp_path, **texts)
    merged: list[Document] = []

    def counted(base: Document, report: ProblemReport) -> None:
        merged.append(base)
        check(base, report)

    monkeypatch.setattr(sources, "check", counted)
    assert load_scenario(path).seed == 3
    assert len(merged) == len(texts) - 2


def test_the_watch_knows_every_file_of_a_list(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        goods="products: []\n",
        a="catalog: goods.yaml\n",
        b="resellers: []\n",
        mine="extends: [a.yaml, b.yaml, default, absent.yaml, 5]\n",
    )
    found = {found.name for found in files_behind(str(path))}
    assert found == {"mine.yaml", "a.yaml", "b.yaml", "goods.yaml", "default.yaml", "absent.yaml"}
