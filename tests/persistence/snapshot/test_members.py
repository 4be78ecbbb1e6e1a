"""No member of a running sandbox is forgotten: each is in its snapshot, or here with the reason why not."""

from typing import Any

import msgspec

from simulator.domain.model.transactions import Transaction
from simulator.persistence.snapshot.rows import OF_FIRST_ENTRY, PAYMENTS
from simulator.persistence.snapshot.state_part import RESELLERS, CountersRow, InboxRow
from simulator.runtime.inbox_messages import InboxMessage
from simulator.runtime.value_counts import KeptCounts, ValueCounts
from tests.support.client import Client, running
from tests.support.taped_plays import FIRST, set_callback

BEGINNING = "of how the life began, which the caller knows"
SCENARIO = "of the scenario, which is compiled again"
DERIVED = "made of other members"
AROUND = "of the server around it"
WAITERS = "who waits or watches is not there any more"
PLACES = "places on the tape, which the caller has"

# By class: what is in a snapshot, and why the others are not.
TABLE: dict[str, tuple[str, dict[str, str]]] = {
    "LiveSandbox": (
        "spec tape journal events clock core inboxes counters courier probes",
        {
            "id": BEGINNING, "seed": BEGINNING, "beginning": BEGINNING, "scenario": "the same as in `spec`",
            "_surroundings": AROUND, "sleep": AROUND, "on_ending": AROUND,
            "server_counts": AROUND, "evicted_at_start": AROUND, "request_pace": AROUND,
            "keeper": AROUND, "is_touched": AROUND, "last_used_s": AROUND,
            "server_secrets": AROUND, "last_ending": AROUND, "delays": WAITERS,
            "holds": WAITERS, "unanswered": WAITERS, "inbox_inputs": AROUND,
            "former_secrets": "of other lives in any sandbox: the server has them",
            "waiting_room": WAITERS, "driver": "it has what runs; there is no snapshot during an advance",
            "is_closed": "such a sandbox has no snapshot", "is_deleted": "such a sandbox has no snapshot",
            "new_events": "empty between two inputs",
            "_mask": DERIVED, "marks": PLACES, "life": "its parts are members of the sandbox, too",
        },
    ),
    "Life": (
        "core journal tape inboxes courier counters probes",
        {"beginning": BEGINNING, "secrets": DERIVED, "marks": PLACES},
    ),
    "State": (
        "scenario now catalog catalog_updated resellers keys secrets users transactions payments voids disputes bills "
        "faults rules_added added chosen_before network cases cases_made bills_paid agenda in_flight callbacks "
        "callbacks_made deliveries catalog_webhook catalog_changes callback_counts webhook_counts notifications "
        "keys_made noted nonces rates",
        {
            "compiler": AROUND, "key_scope": BEGINNING, "seed": BEGINNING, "started": BEGINNING, "publish": WAITERS,
            "nonces_by_reseller": SCENARIO, "codes": SCENARIO, "spelling": SCENARIO,
            "payment_kinds": "of the payments",
        },
    ),
    "Reseller": (
        "code email wallet keys users callback webhook settings closed_to_tokens overlay created overlay_updated",
        {"history": DERIVED, "refids": DERIVED},
    ),
    "Transactions": ("by_number", {}),
    "Wallet": ("balance entries opening threshold", {"_by_day": DERIVED}),
    "Tape": (
        "entries bytes left_out left_bytes",
        {
            "_entries_left": SCENARIO, "_bytes_max": SCENARIO, "unread": "entries, too",
            "_begun_requests": "there is no snapshot while one waits",
            "recorder": AROUND, "_budget": AROUND, "_counted": DERIVED,
        },
    ),
    "BoundedLog": (
        "_records last_n left_out",
        {
            "_count_max": SCENARIO, "_bytes_max": SCENARIO, "_sizes": DERIVED, "_bytes": DERIVED, "notifier": WAITERS,
            "__orig_class__": "of typing",
        },
    ),
    "Inboxes": (
        "budget _by_name _last_n _left_out",
        {
            "started": BEGINNING, "_seed": BEGINNING, "_secrets": "the state's",
            "_count_max": SCENARIO, "_bytes_max": SCENARIO, "_budgets": AROUND,
            "_is_closed": "such a sandbox has no snapshot",
        },
    ),
    "Inbox": (
        "name received last_n evicted left_out_before program replied",
        {"home": DERIVED, "bytes": DERIVED, "waiters": WAITERS, "notifier": WAITERS, "program_bytes": DERIVED},
    ),
    "InboxBudget": (
        "_messages _names",
        {"bytes_max": SCENARIO, "names_max": SCENARIO, "_message_bytes": DERIVED},
    ),
    "Counters": (
        "answers calls values notes first _budget",
        {
            "server_counts": AROUND, "expected": SCENARIO, "_state": "the state", "needs_bodies": SCENARIO,
            "_tests": SCENARIO,
        },
    ),
    "EventLog": (
        "_entries count",
        {
            "sandbox": BEGINNING, "hub": AROUND, "began": AROUND, "clock": "the sandbox's",
            "is_ended": AROUND,
        },
    ),
    "Courier": (
        "sent traces",
        {
            "_owner": BEGINNING, "_seed": BEGINNING, "holds": WAITERS,
            "_inboxes": "the sandbox's", "_sender": AROUND, "_note": "the tape's",
            "server_counts": AROUND,
            "_limits": SCENARIO, "_webhooks": SCENARIO, "_skew": SCENARIO,
            "_source_addresses": SCENARIO, "_verifies": SCENARIO,
        },
    ),
    "Traces": ("by_key", {}),
    "AttemptLog": ("_sent _begun", {}),
    "Clock": (
        "latest mode rate",
        {
            "wall": AROUND, "_anchor": "the time itself is written", "_origin": "the time itself is written",
            "behind": "found again at a restart, from the time and the wall",
        },
    ),
    "Agenda": ("items added", {"_heap": DERIVED}),
    "CallbackLog": (
        "left_out",
        {"_count_max": SCENARIO, "_bytes_max": SCENARIO, "size": DERIVED},
    ),
    "DeliveryLog": (
        "_by_id _last_serial _last_n left_out",
        {"_count_max": SCENARIO, "_bytes_max": SCENARIO, "size": DERIVED, "_by_n": DERIVED},
    ),
    "Nonces": (
        "_order _replaced _oldest_until",
        {"_spent": DERIVED, "_window": SCENARIO, "_tolerance_s": SCENARIO, "_count_max": SCENARIO},
    ),
    "RequestRates": (
        "_windows _blocked",
        {"_requests_max": SCENARIO, "_interval": SCENARIO, "_block": SCENARIO},
    ),
    "Network": ("overrides", {"_timelines": SCENARIO, "_started": BEGINNING}),
    "NotificationLog": ("numbered", {}),
    "SecretLog": ("holders former version replacements", {}),
    "RuleBook": (
        "magic_chosen rules counts",
        {
            "_seed": BEGINNING, "_spelling": SCENARIO, "_values_max": DERIVED,
            "_magic": SCENARIO, "_magic_by_id": SCENARIO, "_fallbacks_at": DERIVED,
            "_by_name": DERIVED, "_only_rule": DERIVED,
            "__orig_class__": "of typing",
        },
    ),
}  # fmt: skip


def objects(client: Client) -> list[Any]:
    """An object of each class in the table."""
    live = client.live
    state = live.core.state
    reseller = state.resellers["RS001"]
    of_state = (
        state.agenda,
        state.callbacks,
        state.deliveries,
        state.nonces,
        state.rates,
        state.network,
    )
    of_rules = state.notifications, state.secrets, state.payments
    boxes = live.inboxes, live.inboxes.peek("callbacks"), live.inboxes.budget
    around = live.journal, live.tape, live.events, live.courier, live.courier.sent, live.clock, live.counters
    traces = live.courier.traces
    return [
        live,
        live.life,
        state,
        reseller,
        reseller.wallet,
        state.transactions,
        *of_state,
        *of_rules,
        *boxes,
        *around,
        traces,
    ]


def names_of(one: Any) -> set[str]:
    """The members of an object."""
    return set(vars(one)) if hasattr(one, "__dict__") else set(type(one).__slots__)


def test_each_member_is_in_a_snapshot_or_has_a_reason_why_not() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay()
        client.advance()
        found = {type(one).__name__: names_of(one) for one in objects(client)}
    assert found.keys() == TABLE.keys()
    for kind, names in found.items():
        written, others = TABLE[kind]
        assert names - {"__orig_class__"} == {*written.split(), *others} - {"__orig_class__"}, kind


def test_the_members_of_a_payment_are_in_its_row_or_its_first_entry_or_are_its_number_or_refund() -> None:
    written = {*PAYMENTS.type.__struct_fields__} - {"shared"} | {"kind"}
    assert {*Transaction.__struct_fields__} == written | {*OF_FIRST_ENTRY, "number", "refund"}


def test_every_value_of_counters_is_written() -> None:
    written = {name.removeprefix("_") for name in TABLE["Counters"][0].split()} - {"budget"} | {"taken"}
    assert {*CountersRow.__struct_fields__} == written
    kept = {"_seen": "known", "_by_count": "by_count", "_closest": "nearest", "size": "size"}
    counted = {"_full", "_left_out", "_without", "_unseen", "_too_close", "_unordered"}
    assert set(kept.values()) | {"counted"} == set(KeptCounts._fields)
    with running({"expect": [{"calls": {"path": "/v2/topup"}, "per": "refid", "count": 1}]}) as client:
        [one] = client.live.counters.values.values()
        assert isinstance(one, ValueCounts)
        assert names_of(one) == {*kept, *counted, "expectation", "_budget"}


def test_members_of_inboxes_and_resellers_have_their_names() -> None:
    assert {*RESELLERS.type.__struct_fields__} == {*TABLE["Reseller"][0].split()}
    assert {one.removeprefix("_") for one in TABLE["Inbox"][0].split()} - {"received"} == {*InboxRow.__struct_fields__}
    assert issubclass(InboxMessage, msgspec.Struct)
