"""The rule book of a scenario's section in a sandbox: finds the rule for a request, and counts matches.

A request gets the first rule whose `when` matches and whose `nth`, `every`, `times` and `chance` admit this match. The
section's own rules are tried first, then the rule of a magic account, then fallbacks. A request may also select a rule
by name.

`choose` finds the rule and counts it. Faults use `find` and `count` instead: they are searched before the body is
known, and again with the body.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Generic

import msgspec

from simulator.domain.model import draw
from simulator.domain.model.rules import (
    NO_RULES,
    VALUES_MAX,
    Fields,
    Rule,
    RuleCount,
    Then,
    counted_value,
)


class Choice(msgspec.Struct, Generic[Then], frozen=True, gc=False):
    """The result of a search in a book. `matched` has the ids of the rules whose `when` matched; `values` has the id
    and the request's value for each of them that counts per value. With `needs_body`, the search must be repeated with
    the body. `is_selected` means that the request named the rule, so that no `when` was evaluated."""

    rule: Rule[Then] | None
    matched: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    needs_body: bool = False
    is_selected: bool = False


class RuleBook(Generic[Then]):
    """The rules of a section in a sandbox, in evaluation order, fallbacks last, with their counts. `magic` has the
    rules of magic accounts, by their last three digits. Refids are counted in their normalized `spelling`."""

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

    def choose(self, gather: Callable[[], Fields], selected: str = "", account: object = None) -> Rule[Then] | None:
        """Return the rule named `selected`, else the first rule that admits the request, and count it. A selected rule
        applies regardless of its counts, and `nth`, `every`, `times` and `chance` do not count the request.

        `gather` builds the facts of the request lazily, only when a rule needs them.
        """
        if not (selected or magic_digits(account) in self._magic):
            if self._only_rule is not None:  # as in most sandboxes
                count = self.counts[self._only_rule.id]
                count.matched += 1
                count.chosen += 1
                return self._only_rule
            if not self.rules:
                return None
        choice = self.find(gather, selected, account)
        rule = choice.rule
        self.count(choice.matched, rule.id if rule is not None else "", choice.values, is_selected=choice.is_selected)
        return rule

    def find(
        self,
        gather: Callable[[], Fields],
        selected: str = "",
        account: object = None,
        *,
        before_body: bool = False,
        matched_before: frozenset[str] = frozenset(),
    ) -> Choice[Then]:
        """Find the rule like `choose`, without counting.

        With `before_body`, only the facts of the head are known; the book must have no fallbacks, which come after
        magic rules. The second search, with the body, skips the rules that matched in the first: `matched_before` has
        their ids. When the first finds a rule, there is no second: rules that need the body do not count the request.
        """
        if selected and (named := self.by_name(selected)):
            return Choice(rule=self._next_variant(named, is_selected=True), is_selected=True)
        needs_body = before_body and bool(self._magic)
        magic = None if before_body else self._magic.get(magic_digits(account))
        if magic is None and not self.rules:
            return Choice(rule=None, needs_body=needs_body)
        facts = gather()
        matched: list[str] = []
        values: list[tuple[str, str]] = []
        chosen: Rule[Then] | None = None
        rules, magic_at = self.rules, self._fallbacks_at
        if magic is not None:
            rules = [*rules[:magic_at], magic, *rules[magic_at:]]
        for rule in rules:
            if rule.id in matched_before or (chosen is not None and rule.nth is None and rule.every is None):
                continue  # a rule after the chosen one is only evaluated where each match counts
            if before_body and rule.when_of_head is not None:
                if chosen is None and rule.when_of_head(facts):
                    return Choice(rule=None, matched=tuple(matched), values=tuple(values), needs_body=True)
            elif rule.when(facts):
                value = counted_value(rule.per, facts, self._spelling) if rule.per else ""
                if rule.per:
                    if not value:
                        continue
                    values.append((rule.id, value))
                matched.append(rule.id)
                if chosen is None and self._applies(rule, value):
                    chosen = self._next_variant(rule)
        return Choice(chosen, tuple(matched), tuple(values), needs_body=needs_body and chosen is None)

    def _applies(self, rule: Rule[Then], value: str) -> bool:
        """Return whether `nth`, `every`, `times` and `chance` admit the next match of a rule, for this value."""
        total = self.counts.get(rule.id)
        if total is None:  # of a magic account
            return True
        count = total.of(value)
        matched = count.matched + 1
        if rule.nth is not None and matched != rule.nth:
            return False
        if rule.every is not None and matched % rule.every:
            return False
        if rule.times is not None and count.chosen - count.selected >= rule.times:
            return False
        return rule.chance is None or draw.fraction(self._seed, rule.label, total.matched + 1) < rule.chance

    def _next_variant(self, rule: Rule[Then], *, is_selected: bool = False) -> Rule[Then]:
        """Return the variant for a rule's next match. Requests that select the rule by name have separate draws."""
        if not rule.variants:
            return rule
        count = self.counts.get(rule.id)
        if count is None:  # of a magic account
            identity: tuple[object, ...] = (self.magic_chosen[rule.id] + 1,)
        elif is_selected:
            identity = ("selected", count.selected + 1)
        else:
            identity = (count.matched + 1,)
        return rule.drawn(draw.fraction(self._seed, "one_of", rule.label, *identity))

    def count(
        self,
        matched: Collection[str],
        chosen: str,
        values: Iterable[tuple[str, str]] = (),
        *,
        is_selected: bool = False,
    ) -> None:
        """Count the result of `find`. `matched` and `chosen` are ids of rules; `chosen` is "" for no rule. A fault that
        applies after the commit is counted twice: first as matched, and as chosen when the request was accepted."""
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
        elif chosen:
            self.magic_chosen[chosen] += 1

    def _count_of(self, count: RuleCount, value: str) -> RuleCount:
        """Return the count of a value, to be incremented. A new value may evict the oldest."""
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
        """Replace all rules and counts; `rules` are in evaluation order."""
        pairs = list(rules)
        self.counts = {rule.id: count for rule, count in pairs}
        self.magic_chosen = Counter(magic_chosen)
        self._set_rules(rule for rule, _ in pairs)

    def _set_rules(self, rules: Iterable[Rule[Then]]) -> None:
        """Index the rules by name, and share the limit on values among those that count per value."""
        self.rules = sorted(rules, key=lambda rule: rule.fallback)
        self._fallbacks_at = sum(not rule.fallback for rule in self.rules)
        sharing = sum(bool(rule.per) for rule in self.rules)
        self._values_max = min(VALUES_MAX, 2 * VALUES_MAX // max(1, sharing))
        # The first rule of each name and id.
        self._by_label = {label: rule for rule in reversed(self.rules) for label in (rule.id, rule.name)}
        self._only_rule = self.rules[0] if len(self.rules) == 1 and self.rules[0].decides_all else None

    # Look-ups

    def by_name(self, name: str) -> Rule[Then] | None:
        """Return the rule with this name or id."""
        return self._by_label.get(name) or self._magic_by_id.get(name)

    def names(self) -> Iterator[str]:
        """Yield the names of the rules that have one, and of the magic rules."""
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
