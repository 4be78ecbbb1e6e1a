"""`schedule`: timed changes of the running sandbox. Items that can never be carried out are rejected at once."""

from collections.abc import Collection, Mapping
from datetime import time

import msgspec

from simulator.domain.commands import (
    AddRule,
    ChangeProduct,
    ChangeSettings,
    ChangeTree,
    Credit,
    PutApiKey,
    PutWebhook,
    RemoveRule,
    SetCallback,
    SetNetwork,
    SetThreshold,
)
from simulator.domain.model.catalog import Catalog, TreeKind
from simulator.domain.model.money import is_whole_cents
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.schedule import At, Command, ScheduledChange
from simulator.domain.model.wallet import EntryType
from simulator.scenario.reading.value_reader import ValueReader, secret_bytes, target
from simulator.scenario.sections.catalog_section import changes, tree_changes
from simulator.scenario.sections.limits import network_status
from simulator.scenario.sections.reseller_section import allowlist, callback, key_state, threshold
from simulator.scenario.sections.rule_sections import DEFINITIONS, KnownCodes, check_codes, rule_of
from simulator.scenario.sections.times import clock_time

# The kinds of items; each item has exactly one kind, besides `at`.
KINDS = ("deposit", "product", *TreeKind, "api_key", "settings", "network", "rule", "webhook")


class Start(msgspec.Struct, frozen=True):
    """The initial state that a schedule may refer to. `rules` are the names and ids of its rules, and `magic` those
    that cannot be removed."""

    catalog: Catalog
    resellers: Mapping[str, ResellerStart]
    known: KnownCodes
    rules: Collection[str]
    magic: Collection[str]


def schedule(section: ValueReader, start: Start) -> tuple[ScheduledChange, ...]:
    """Return all items, in the order of the file."""
    items = section.items()
    _refuse_labels(section, start)
    return tuple(planned for item in items if (planned := _planned(item, items, start)) is not None)


def added_labels(section: ValueReader) -> list[ValueReader]:
    """Return the names and ids of rules that the schedule adds."""
    labels = (rule[key] for item in section.items() for _, rule in added_rules(item) for key in ("name", "id"))
    return [label for label in labels if label.text()]


def moment(entry: ValueReader) -> At:
    """Return a span after the start, or a time of day."""
    if ":" in entry.text():
        return entry.parsed(clock_time, "bad_duration") or time(0)
    return entry.duration()


def added_rules(item: ValueReader) -> list[tuple[str, ValueReader]]:
    """Return the section and the reader of each rule that an item adds, at most one if it is valid."""
    return [entry for entry in item["rule"]["add"].entries() if entry[0] in DEFINITIONS]


def _planned(item: ValueReader, items: list[ValueReader], start: Start) -> ScheduledChange | None:
    given = [kind for kind in KINDS if item[kind].is_given]
    if len(given) != 1:
        _refuse_kinds(item, given)
        return None
    at, commands = moment(item["at"]), _commands(given[0], item, items, start)
    return ScheduledChange(at, commands) if commands else None


def _commands(kind: str, item: ValueReader, items: list[ValueReader], start: Start) -> tuple[Command, ...]:
    """Return the commands of an item of this kind; none for an invalid rule."""
    wanted = item[kind]
    match kind:
        case "deposit":
            return (_deposit(wanted, start),)
        case "product":
            return (_product(wanted, start),)
        case "api_key":
            return (_api_key(wanted, items, start),)
        case "settings":
            return _settings(wanted, start)
        case "network":
            check_codes(wanted["product"], start.known.products, "product")
            return (SetNetwork(wanted["product"].text(), network_status(wanted["status"])),)
        case "rule":
            return _rule(item, start)
        case "webhook":
            return (_webhook(wanted, start),)
        case _:
            return (_tree(wanted, TreeKind(kind), start),)


def _refuse_kinds(item: ValueReader, given: list[str]) -> None:
    """Report an item with no kind, or with several, which the message names."""
    *others, last = map(repr, map(str, given or KINDS))
    listed = f"{', '.join(others)} and {last}; write an item for each" if given else f"{', '.join(others)}, {last}"
    item.problem("missing_key", f"a scheduled item needs exactly one of {listed}")


def _deposit(deposit: ValueReader, start: Start) -> Credit:
    amount = deposit["amount"].amount()
    if deposit["amount"].is_given and (amount <= 0 or not is_whole_cents(amount)):
        deposit["amount"].problem("bad_amount", f"a deposit is above 0 and in whole sen, not {amount}")
    type_ = EntryType.COMMISSION if deposit["type"].text() == "COMMISSION" else EntryType.DEPOSIT
    return Credit(_reseller(deposit, start), amount, deposit["description"].text(), type_)


def _product(wanted: ValueReader, start: Start) -> ChangeProduct:
    """Parse `{code, reseller?, set: {...}}`."""
    code, products = wanted["code"].text(), start.catalog.products
    wanted["code"].refuse_unknown("product", products)
    reseller = _reseller(wanted, start) or None
    result = changes(wanted["set"], products.get(code), is_overlay=reseller is not None)
    return ChangeProduct(code, result.properties, result.options, reseller)


def _tree(wanted: ValueReader, kind: TreeKind, start: Start) -> ChangeTree:
    """Parse `{id, set: {...}}` of a category or group."""
    wanted["id"].refuse_unknown(kind.value, [part.id for part in start.catalog.parts(kind)])
    return ChangeTree(kind, wanted["id"].text(), tree_changes(wanted["set"], kind, start.catalog.products))


def _api_key(wanted: ValueReader, items: list[ValueReader], start: Start) -> PutApiKey:
    """Return the change of an existing key, or a new key with its secret."""
    code, key, secret = _reseller(wanted, start), wanted["key"].text(), wanted["secret"]
    secret.parsed(secret_bytes, "bad_secret")
    if not secret.is_given and not wanted["state"].is_given:
        wanted.problem("missing_key", "a scheduled key has 'secret', 'state' or both")
    owners = {one.key: reseller.code for reseller in start.resellers.values() for one in reseller.keys}
    if owners.get(key, code) != code:
        wanted["key"].problem("duplicate", f"API key {key!r} belongs to reseller {owners[key]!r}")
    elif code in start.resellers and not secret.is_given:
        others = [other["api_key"] for other in items if other["api_key"]["secret"].is_given]
        keys = [known for known, owner in owners.items() if owner == code]
        keys += [other["key"].text() for other in others if other["reseller"].text() == code]
        wanted["key"].refuse_unknown("api_key", keys, f"of reseller {code!r}")
    state = key_state(wanted["state"].text()) if wanted["state"].is_given else None
    return PutApiKey(code, key, secret.text(), state)


def _settings(wanted: ValueReader, start: Start) -> tuple[Command, ...]:
    found: dict[str, bool | tuple[str, ...]] = {}
    if wanted["require_api_key_for_topup"].is_given:
        found["require_api_key_for_topup"] = wanted["require_api_key_for_topup"].boolean()
    if wanted["ip_allowlist"].is_given:
        found["ip_allowlist"] = allowlist(wanted["ip_allowlist"])
    to = callback(wanted["callback"]) if wanted["callback"].is_given else None
    low = threshold(wanted["low_balance_threshold"])
    if not found and to is None and low is None:
        wanted.problem("missing_key", "scheduled settings need a key besides 'reseller'")
    code = _reseller(wanted, start)
    others = [SetCallback(code, to.url, to.method)] if to is not None else []
    return (ChangeSettings(code, found), *others, *([SetThreshold(code, low)] if low is not None else []))


def _rule(item: ValueReader, start: Start) -> tuple[Command, ...]:
    """Parse `{add: {payments: {...}}}`, with any section of rules, or `{remove: NAME}`."""
    rule = item["rule"]
    if rule["add"].is_given == rule["remove"].is_given:
        rule.problem("missing_key", "a scheduled rule needs exactly one of 'add' and 'remove'")
        return ()
    if rule["remove"].is_given:
        return (RemoveRule(rule["remove"].text()),)
    for section, entry in added_rules(item):
        rule_of(section, entry, "added", start.known)
        if entry.is_mapping:
            return (AddRule(section, entry.plain),)
    return ()


def _webhook(wanted: ValueReader, start: Start) -> PutWebhook:
    if not any(wanted[key].is_given for key in ("url", "secret", "enabled")):
        wanted.problem("missing_key", "a scheduled webhook has 'url', 'secret' or 'enabled'")
    url = wanted["url"].parsed(target, "bad_url") or ""
    enabled = wanted["enabled"].boolean() if wanted["enabled"].is_given else None
    return PutWebhook(_reseller(wanted, start), url, wanted["secret"].text().lower(), enabled)


def _reseller(wanted: ValueReader, start: Start) -> str:
    check_codes(wanted["reseller"], start.known.resellers, "reseller")
    return wanted["reseller"].text()


def _refuse_labels(section: ValueReader, start: Start) -> None:
    """Report names that are taken whenever the rule is added, and removals of rules that never exist. Otherwise the
    result depends on times, so the running sandbox decides."""
    removals = [item["rule"]["remove"] for item in section.items()]
    removed = {label.text() for label in removals}
    seen = {*start.rules, *start.magic}
    for label in added_labels(section):
        if label.text() in seen and label.text() not in removed:
            label.problem("duplicate", f"there is a rule {label.text()!r} already")
        seen.add(label.text())
    for label in removals:
        label.refuse_unknown("rule", seen.difference(start.magic))
