"""The rules of one section of a scenario (payments, voids, disputes, bills or faults): which rule a request gets.

A rule *matches* a request when its `when` is true of the request's facts, and the facts have a value for its `per`. A
matching rule *applies* when its `nth`, `every`, `times` and `chance` admit this match. The first rule that applies is
*chosen*: the section's own rules come first, then the rule of a magic account (whose last digits name an outcome), then
the fallbacks. Later rules with `nth` or `every` are still evaluated, since they count every match. A request may
*select* a rule by name (`X-Sim-Rule`); then that rule is chosen. An example, whose rules have the ids `payments-1` and
`payments-2`:

    payments:
      - { name: second fails, when: { product: RELOAD }, nth: 2, then: [{ status: Failed }] }
      - { name: success, when: {}, then: [{ status: Succesful }] }

The first payment of RELOAD matches both rules, and `second fails` does not apply yet. So `find` returns
`Choice(rule=<success>, matched=("payments-1", "payments-2"))`, and `count` counts two matches and one choice. The
second payment gets `Choice(rule=<second fails>, matched=("payments-1",))`: `success` has no `nth` and is skipped.

Each section of a sandbox's `State` has a book. Payments, bills and cases (voids, disputes) call `choose`, which is
`find` and `count`. Faults (`api/fault_effects`) call `find` without the body of a request and, if the choice
`needs_body`, again with it; after each search that matches or selects, the command `CountFault` calls `count`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Generic

import msgspec

from simulator.domain.model import draw
from simulator.domain.model.rules import NO_RULES, VALUES_MAX, Fields, Rule, RuleCount, Then, counted_value

CountedValues = tuple[tuple[str, str], ...]
"""For each matching rule with `per`: the id of the rule and the request's value."""


class Choice(msgspec.Struct, Generic[Then], frozen=True, gc=False):
    """The result of a search, which counts nothing: the rule that the request gets, and what `count` counts for it."""

    rule: Rule[Then] | None  # None: no rule applies, or the search must be repeated
    matched: tuple[str, ...] = ()  # the ids of the evaluated rules that match, chosen or not
    values: CountedValues = ()
    needs_body: bool = False  # repeat the search with the body
    is_selected: bool = False  # the request selected the rule by name; no `when` was evaluated


class RuleBook(Generic[Then]):
    """The rules of a section, in evaluation order, and their counts. `magic` has the rules of magic accounts, by the
    last three digits of the account. `spelling` normalizes the refids that a rule with `per: refid` counts."""

    def __init__(
        self,
        seed: int,
        rules: tuple[Rule[Then], ...],
        magic: Mapping[str, Rule[Then]] = NO_RULES,
        spelling: Callable[[str], str] | None = None,
    ) -> None:
        self._seed = seed
        self._spelling = spelling
        self.magic_chosen: Counter[str] = Counter()  # counts of magic rules, by id
        self._magic = magic
        self._magic_by_id = {rule.id: rule for rule in magic.values()}
        self.counts = {rule.id: RuleCount() for rule in rules}
        self._set_rules(rules)

    def choose(self, get_facts: Callable[[], Fields], selected: str = "", account: object = None) -> Rule[Then] | None:
        """Return the rule that a request gets, and count it. `get_facts` is called only when a rule needs the facts.

        `selected` is the name of the rule that the request selects, or empty; a name that this book lacks is ignored,
        since it may be of another section. A selected rule is chosen regardless of its counts, and `nth`, `every`,
        `times` and `chance` do not count the request.
        """
        only_rule = self._only_rule
        if only_rule is not None and not selected and magic_digits(account) not in self._magic:  # in most sandboxes
            count = self.counts[only_rule.id]
            count.matched += 1
            count.chosen += 1
            return only_rule
        choice = self.find(get_facts, selected, account)
        rule = choice.rule
        self.count(choice.matched, rule.id if rule is not None else "", choice.values, is_selected=choice.is_selected)
        return rule

    def find(
        self,
        get_facts: Callable[[], Fields],
        selected: str = "",
        account: object = None,
        *,
        before_body: bool = False,
        matched_before: frozenset[str] = frozenset(),
    ) -> Choice[Then]:
        """Find the rule that a request gets, without counting.

        With `before_body`, this is the first of two searches, by the facts of the head only. If the first search finds
        a rule, there is no second search, and rules that need the body do not count the request. The second search
        skips the rules that matched in the first, whose ids are `matched_before`. A book that is searched twice must
        have no fallbacks: the first search might choose a fallback, although the account in the body is magic and the
        magic rule comes before fallbacks.
        """
        if selected and (named := self.by_name(selected)):
            return Choice(rule=self._next_variant(named, is_selected=True), is_selected=True)
        needs_body = before_body and bool(self._magic)  # the account is in the body
        magic = None if before_body else self._magic.get(magic_digits(account))
        if magic is None and not self.rules:
            return Choice(rule=None, needs_body=needs_body)
        facts = get_facts()
        matched: list[str] = []
        values: list[tuple[str, str]] = []
        chosen: Rule[Then] | None = None
        rules, fallbacks_at = self.rules, self._fallbacks_at
        if magic is not None:
            rules = [*rules[:fallbacks_at], magic, *rules[fallbacks_at:]]
        # A search before the body ends at a rule that needs the body, unless a rule was chosen before.
        for rule in rules:
            if rule.id in matched_before or (chosen is not None and rule.nth is None and rule.every is None):
                continue  # after the chosen rule, only rules with `nth` or `every` are evaluated: each match counts
            if before_body and rule.when_of_head is not None:  # only the second search can decide this rule
                if chosen is None and rule.when_of_head(facts):  # it may match
                    return Choice(rule=None, matched=tuple(matched), values=tuple(values), needs_body=True)
                continue  # it cannot match, or a rule before it was chosen without the body
            if not rule.when(facts):
                continue
            value = counted_value(rule.per, facts, self._spelling) if rule.per else ""
            if value:
                values.append((rule.id, value))
            elif rule.per:
                continue  # the request has nothing to count by
            matched.append(rule.id)
            if chosen is None and self._applies(rule, value):
                chosen = self._next_variant(rule)
        return Choice(chosen, tuple(matched), tuple(values), needs_body=needs_body and chosen is None)

    def _applies(self, rule: Rule[Then], value: str) -> bool:
        """Return whether a matching rule applies. With `per`, the request's `value` has its own count for `nth`,
        `every` and `times`; `chance` always uses the rule's total."""
        total = self.counts.get(rule.id)
        if total is None:  # a magic rule, which always applies
            return True
        count = total.of(value)
        matched = count.matched + 1
        if rule.nth is not None and matched != rule.nth:
            return False
        if rule.every is not None and matched % rule.every:
            return False
        if rule.times is not None and count.chosen - count.selected >= rule.times:  # selections by name do not count
            return False
        return rule.chance is None or draw.fraction(self._seed, rule.label, total.matched + 1) < rule.chance

    def _next_variant(self, rule: Rule[Then], *, is_selected: bool = False) -> Rule[Then]:
        """Return the rule, or the variant drawn for this match. A selection by name has its own series of draws, unless
        the rule is magic."""
        if not rule.variants:
            return rule
        count = self.counts.get(rule.id)
        if count is None:  # a magic rule
            identity: tuple[object, ...] = (self.magic_chosen[rule.id] + 1,)
        elif is_selected:
            identity = ("selected", count.selected + 1)
        else:
            identity = (count.matched + 1,)
        return rule.drawn(draw.fraction(self._seed, "one_of", rule.label, *identity))

    def count(
        self, matched: Collection[str], chosen: str, values: CountedValues = (), *, is_selected: bool = False
    ) -> None:
        """Count the result of `find`. `chosen` is the id of the chosen rule, "" for none. A fault with `after_commit`
        is counted in two calls: first as matched, then, when the request was accepted, as chosen. The second call has
        no matches, and counts only the value of the chosen rule."""
        counts = self.counts
        for rule_id in matched:
            if rule_id in counts:
                counts[rule_id].matched += 1
        ids = frozenset(matched)
        for rule_id, value in values:
            if rule_id in counts and (rule_id in ids or rule_id == chosen):
                count = self._count_of(counts[rule_id], value)
                count.matched += rule_id in ids
                count.chosen += rule_id == chosen
        if chosen in counts:
            counts[chosen].chosen += 1
            counts[chosen].selected += is_selected
        elif chosen in self._magic_by_id:  # any other rule was removed since it was found
            self.magic_chosen[chosen] += 1

    def _count_of(self, count: RuleCount, value: str) -> RuleCount:
        """Return the count of a value, to be incremented. A new value may evict the oldest, which is counted
        from 0 if it returns."""
        found = count.by_value.get(value)
        if found is None:
            while len(count.by_value) >= self._values_max:
                del count.by_value[next(iter(count.by_value))]
            found = count.by_value[value] = RuleCount()
        return found

    # Changes

    def put_first(self, rule: Rule[Then], count: RuleCount | None = None) -> None:
        """Insert a rule before all others, a fallback before all fallbacks; `count` continues an earlier count."""
        self.counts[rule.id] = count or RuleCount()
        self._set_rules((rule, *self.rules))

    def remove(self, rule_id: str) -> None:
        del self.counts[rule_id]
        self._set_rules(rule for rule in self.rules if rule.id != rule_id)

    def restore(self, rules: Iterable[tuple[Rule[Then], RuleCount]], magic_chosen: Mapping[str, int]) -> None:
        """Replace all rules but the magic ones, and all counts; `rules` are in evaluation order."""
        pairs = list(rules)
        self.counts = {rule.id: count for rule, count in pairs}
        self.magic_chosen = Counter(magic_chosen)
        self._set_rules(rule for rule, _ in pairs)

    def _set_rules(self, rules: Iterable[Rule[Then]]) -> None:
        """Set the rules in evaluation order, the indexes, and the limit on values, which rules with `per` share."""
        self.rules = sorted(rules, key=lambda rule: rule.fallback)
        self._fallbacks_at = sum(not rule.fallback for rule in self.rules)
        per_rules = sum(bool(rule.per) for rule in self.rules)
        self._values_max = 2 * VALUES_MAX // max(2, per_rules)  # of a rule
        # The first rule of each name and id.
        self._by_name = {name: rule for rule in reversed(self.rules) for name in (rule.id, rule.name) if name}
        self._only_rule = self.rules[0] if len(self.rules) == 1 and self.rules[0].decides_all else None

    # Look-ups

    def by_name(self, name: str) -> Rule[Then] | None:
        """Return the rule with this name or id."""
        return self._by_name.get(name) or self._magic_by_id.get(name)

    def names(self) -> Iterator[str]:
        """Yield the names of the rules that have a name, and the ids of the magic rules."""
        yield from (rule.name for rule in self.rules if rule.name)
        yield from self._magic_by_id

    def is_magic(self, account: object) -> bool:
        """Return whether this section has a magic rule for `account`."""
        return magic_digits(account) in self._magic

    def counted_rules(self) -> Iterator[tuple[Rule[Then], RuleCount]]:
        """Yield each rule and its count, in evaluation order, without the rules of magic accounts."""
        return ((rule, self.counts[rule.id]) for rule in self.rules)

    def times_chosen(self, rule: Rule[Then]) -> int:
        """Return how often a rule was chosen so far; 0 for a magic rule, which `magic_chosen` counts."""
        count = self.counts.get(rule.id)
        return count.chosen if count else 0


def magic_digits(account: object) -> str:
    """Return the last three digits of a magic account, which follow 0000; empty for an ordinary account."""
    return account[-3:] if isinstance(account, str) and account[-7:-3] == "0000" else ""
