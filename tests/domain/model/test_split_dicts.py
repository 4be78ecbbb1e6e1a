"""A dict in parts is a dict, whatever its size and whatever it began with."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from simulator.domain.model import split_dicts
from simulator.domain.model.split_dicts import PARTS, WHOLE_MAX, SplitDict
from tests.support.tiers import examples

KEYS = st.integers(0, 30).map(str)


class SplitDictMachine(RuleBasedStateMachine):
    """Beside a dict; it is in parts with five keys."""

    @initialize(beginning=st.dictionaries(KEYS, st.integers()))
    def begin(self, beginning: dict[str, int]) -> None:
        self.whole_max, split_dicts.WHOLE_MAX = split_dicts.WHOLE_MAX, 5  # type: ignore[misc]
        self.wanted = dict(beginning)
        self.found: SplitDict[str, int] = SplitDict(beginning.items())

    def teardown(self) -> None:
        split_dicts.WHOLE_MAX = self.whole_max  # type: ignore[misc]

    @rule(key=KEYS, value=st.integers())
    def put(self, key: str, value: int) -> None:
        self.wanted[key] = value
        self.found[key] = value

    @rule(key=KEYS)
    def pop(self, key: str) -> None:
        assert self.found.pop(key) == self.wanted.pop(key, None)

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        assert self.found.get(key) == self.wanted.get(key)
        assert (key in self.found) == (key in self.wanted)

    @invariant()
    def the_same_is_in_it(self) -> None:
        if hasattr(self, "wanted"):
            assert len(self.found) == len(self.wanted)
            assert dict(self.found.items()) == self.wanted


TestSplitDict = SplitDictMachine.TestCase
TestSplitDict.settings = settings(max_examples=examples(30), stateful_step_count=30)


def test_no_part_is_large_when_all_are_many() -> None:
    many: SplitDict[str, int] = SplitDict()
    for number in range(500 * WHOLE_MAX):
        many[f"ref-{number}"] = number
    sizes = [len(part) for part in (many._beginning, *many._parts)]
    assert sum(sizes) == len(many) == 500 * WHOLE_MAX
    assert len(sizes) == PARTS + 1
    assert max(sizes) < 3 * WHOLE_MAX
