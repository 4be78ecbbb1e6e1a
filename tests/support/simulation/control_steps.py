"""What is done to sandboxes by the control API, by those who watch a file, by receivers and by time."""

from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.webhooks import DeliveryState
from simulator.runtime.sandbox_start import SandboxSpec
from tests.support.simulation.clients import Answered
from tests.support.simulation.event_streams import gaps
from tests.support.simulation.memory import Awaited
from tests.support.simulation.network import MOODS
from tests.support.simulation.scenarios import FAULTS, STEPS, VARIANTS, WAYS, variant
from tests.support.simulation.steps import BOX, WHO, number, one_of, step
from tests.support.simulation.world import World


def _to(world: World, box: str, method: str, path: str, body: Any = None, then: Any = None) -> None:
    content = b"" if body is None else msgspec.json.encode(body)
    world.clients.control(method, f"/sandboxes/{box}{path}", content, then or _nothing)


def _nothing(answered: Answered) -> None:
    """Nobody looks at the answer."""


# Time


@step(22, seconds=one_of(0.0, 0.05, 0.3, 1.0, 2.0, 2.0, 5.0, 5.0, 12.0, 31.0, 60.0, 61.0, 130.0, 320.0, 700.0))
def wait(world: World, seconds: float) -> None:
    """Time passes."""
    world.loop.pass_time(seconds)


@step(6, box=BOX, by=one_of(0, 0.5, 2, 5, 20, 60, 60, 300, 3600, "idle"))
def advance(world: World, box: str, by: float | str) -> None:
    """Move a sandbox's time, while everything else goes on."""
    _to(world, box, "POST", "/clock/advance", {"until": "idle"} if by == "idle" else {"seconds": by})


@step(0.5, box=BOX)
def stop_advance(world: World, box: str) -> None:
    """End the advance that runs, if one does."""
    _to(world, box, "DELETE", "/clock/advance")


@step(2, box=BOX, change=one_of({"mode": "real"}, {"mode": "manual"}, {"mode": "xN", "rate": 60}, {"rate": 0.5}))
def set_clock(world: World, box: str, change: dict[str, Any]) -> None:
    """Let a sandbox's time go otherwise."""
    _to(world, box, "PUT", "/clock", change)


@step(1, box=BOX, seconds=one_of(-5, 1, 60, 4000))
def jump(world: World, box: str, seconds: float) -> None:
    """Set a sandbox's time, which what is overdue meets late."""
    life = world.life(box)
    if life is not None and life.now is not None:
        to = life.now.timestamp() + seconds
        _to(world, box, "PUT", "/clock", {"now": f"{world.moment(to):%Y-%m-%dT%H:%M:%S.%fZ}"})


# Receivers


@step(3, host=one_of("one.example", "two.example", "hooks.example"), mood=one_of(*MOODS, "mixed", "mixed"))
def change_mood(world: World, host: str, mood: str) -> None:
    """A receiver begins to behave otherwise."""
    world.network.moods[host] = mood


INBOX_REPLIES: tuple[list[dict[str, Any]], ...] = (
    [], [{"status": 500}], [{"status": 500}, {"status": 200}], [{"disconnect": True}, {"status": 200}],
    [{"status": 200, "delay": 8}], [{"status": 429}, {"status": 404}],
)  # fmt: skip


@step(1.5, box=BOX, name=one_of("callbacks", "callbacks", "webhooks"), replies=number(0, len(INBOX_REPLIES) - 1))
def set_replies(world: World, box: str, name: str, replies: int) -> None:
    """Change what an inbox answers."""
    _to(world, box, "PUT", f"/inbox/{name}", {"replies": INBOX_REPLIES[replies]})


@step(0.5, box=BOX, name=one_of("callbacks", "webhooks"))
def clear_inbox(world: World, box: str, name: str) -> None:
    """Forget what an inbox received."""
    _to(world, box, "DELETE", f"/inbox/{name}")


# What is configured


@step(3, box=BOX, who=WHO, amount=one_of("1.00", "50.00", "400.00", "2.50"))
def deposit(world: World, box: str, who: str, amount: str) -> None:
    """Put money into a wallet, which its webhook is told."""
    life = world.life(box)
    if life is not None and not life.live.is_closed and who in life.core.state.resellers:
        account = life.account(life.core.state.resellers[who])
        account.deposits[Decimal(amount)] += 1

        def then(answered: Answered) -> None:
            if answered.status == 201 and life.live.core is life.core:
                account.deposited += Decimal(amount)

        _to(world, box, "POST", f"/resellers/{who}/deposits", {"amount": amount}, then)


@step(
    2,
    box=BOX,
    steps=one_of(*STEPS),
    way=number(0, len(WAYS) - 1),
    when=one_of({}, {"when": {"product": "RELOAD"}}, {"times": 1}),
)
def add_payment_rule(world: World, box: str, steps: str, way: int, when: dict[str, Any]) -> None:
    """Decide otherwise what becomes of payments."""
    rule: dict[str, Any] = {"then": STEPS[steps], "callbacks": WAYS[way], **when}
    _to(world, box, "POST", "/rules", {"section": "payments", "rule": rule})


@step(2, box=BOX, fault=number(0, len(FAULTS) - 1), times=one_of(1, 1, 2, 5))
def add_fault(world: World, box: str, fault: int, times: int) -> None:
    """Damage the next requests."""
    life = world.life(box)

    def then(answered: Answered) -> None:
        if answered.status == 201 and life is not None and life.live.core is life.core:
            life.fault_times[msgspec.json.decode(answered.body)["id"]] = times

    _to(world, box, "POST", "/rules", {"section": "faults", "rule": FAULTS[fault] | {"times": times}}, then)


@step(
    1,
    box=BOX,
    then=one_of(
        {"status": "Failed"},
        {"status": "Success", "refund_after": "0s"},
        {"status": "Success", "refund_after": "10m"},
        {"status": "Success", "refused_after": "30s"},
    ),
)
def add_void_rule(world: World, box: str, then: dict[str, Any]) -> None:
    """Decide otherwise what becomes of voids."""
    _to(world, box, "POST", "/rules", {"section": "voids", "rule": {"then": then}})


@step(2, box=BOX, place=number(0, 5))
def remove_rule(world: World, box: str, place: int) -> None:
    """Remove one of the rules, the latest ones first."""
    life = world.life(box)
    if life is not None:
        ids = [rule.id for book in life.core.state.books.values() for rule, _ in book.listed()]
        added = [id_ for id_ in ids if id_.startswith("added")] or ids
        if added:
            _to(world, box, "DELETE", f"/rules/{added[place % len(added)]}")


@step(0.6, box=BOX, number=number(0, VARIANTS - 1))
def load_scenario(world: World, box: str, number: int) -> None:
    """Switch to another scenario, as `serve --watch` does when its file is written."""
    live = world.find(box)
    if live is not None and not live.is_closed:
        scenario = variant(number, "manual")
        load = world.app.load(scenario) if box == "default" else live.load(scenario)
        life = world.life(box)
        if life is not None:
            # A reseller that the scenario before did not have is set as the new one says.
            life.revoked = dict.fromkeys(life.revoked, False)
            life.shut = dict.fromkeys(life.shut, False)
        world.control(load)


@step(1, box=BOX, product=one_of("WATER", "ELECTRIC", "RELOAD"), is_active=one_of(True, True, False))
def change_product(world: World, box: str, product: str, is_active: bool) -> None:
    """Take a product off sale, or put it back."""
    live = world.find(box)

    def then(answered: Answered) -> None:
        life = world.life(box)
        if answered.status == 200 and life is not None and life.live is live:
            life.products[product] = is_active

    _to(world, box, "PATCH", f"/catalog/products/{product}", {"is_active": is_active}, then)


@step(0.7, box=BOX, product=one_of("WATER", "RELOAD"), status=one_of("Healthy", "Interruption"))
def set_network(world: World, box: str, product: str, status: str) -> None:
    """Let a product's network fail, or heal."""
    _to(world, box, "PUT", f"/network/{product}", {"status": status})


@step(0.4, box=BOX, who=WHO)
def revoke_key(world: World, box: str, who: str) -> None:
    """Revoke a reseller's key, and give it another one."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        key = f"key-{who}"

        def then(answered: Answered) -> None:
            if answered.status == 204 and not life.live.is_closed and life.live.core is life.core:
                life.revoked[key] = True

        _to(world, box, "DELETE", f"/resellers/{who}/api-keys/{key}", None, then)


@step(0.6, box=BOX, who=WHO, is_shut=one_of(True, False, False))
def set_allowlist(world: World, box: str, who: str, is_shut: bool) -> None:
    """Let a reseller's clients come from nowhere, or from everywhere."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        life.shut[who] = False  # until it is known

        def then(answered: Answered) -> None:
            if answered.status == 200 and not life.live.is_closed and life.live.core is life.core:
                life.shut[who] = is_shut

        body = {"ip_allowlist": ["10.0.0.0/8"] if is_shut else []}
        _to(world, box, "PATCH", f"/resellers/{who}/settings", body, then)


@step(1, box=BOX, place=number(0, 10))
def send_callback(world: World, box: str, place: int) -> None:
    """Send the callback of a payment once more."""
    life = world.life(box)
    if life is not None and life.core.state.transactions:
        trxids = list(life.core.state.transactions)
        _to(world, box, "POST", f"/transactions/{trxids[-1 - place % len(trxids)]}/callbacks")


@step(1, box=BOX)
def replay_any_delivery(world: World, box: str) -> None:
    """Have the latest failed delivery sent again, as the console does."""
    life = world.life(box)
    failed = [one for one in (life.core.state.deliveries if life else ()) if one.state is DeliveryState.FAILED]
    if failed and life is not None:
        event = failed[-1].event.id

        def then(answered: Answered) -> None:
            if answered.status == 201 and not life.live.is_closed and life.live.core is life.core:
                life.replays[event] += 1

        _to(world, box, "POST", f"/deliveries/{failed[-1].id}/replay", None, then)


# Reading

READS = (
    "", "/clock", "/due", "/requests?limit=5", "/transactions?limit=5", "/ledger?limit=5", "/callbacks?limit=5",
    "/deliveries?limit=5", "/invariants", "/inbox/callbacks?limit=5", "/rules?limit=5", "/figures", "/coverage",
)  # fmt: skip


@step(1, box=BOX, path=one_of(*READS))
def look_at(world: World, box: str, path: str) -> None:
    """Read something of a sandbox."""
    _to(world, box, "GET", path)


@step(1, box=BOX, more=number(1, 3), timeout=one_of(1, 20, 60))
def await_requests(world: World, box: str, more: int, timeout: int) -> None:
    """Wait until the journal has more requests."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        target = f"/sandboxes/{box}/requests?limit=1&wait_for={len(life.journal) + more}&timeout={timeout}"
        task = world.clients.control("GET", target)
        world.awaited.append(Awaited(task, life.journal, life.journal.last_n + more))


@step(1, box=BOX, more=number(1, 3), timeout=one_of(1, 20, 60))
def await_callbacks(world: World, box: str, more: int, timeout: int) -> None:
    """Wait until an inbox has more callbacks."""
    _to(world, box, "GET", f"/inbox/callbacks?limit=1&wait_for={more}&timeout={timeout}")


@step(0.7, box=one_of("default", "default", "box-a", ""), timeout=one_of(5, 60, 300))
def watch_events(world: World, box: str, timeout: int) -> None:
    """Read what happens, of one sandbox or of all, which must be all that happens or say how much is missing."""
    path = f"/sandboxes/{box}/events" if box else "/events"
    life = world.life(box) if box else None

    def then(answered: Answered) -> None:
        state = None if life is None or life.live.core is not life.core or life.live.is_closed else life.core.state
        logs = (life.journal, state.callbacks, state.deliveries) if life is not None and state is not None else None
        has_all = logs is not None and not any([logs[0].left_out, logs[1].left_out, logs[2].left_out])
        found = gaps(answered.body, may_miss=not has_all)
        world.answers.problems.extend(f"the events of {box or 'all sandboxes'}: {one}" for one in found)

    world.clients.control("GET", f"{path}?heartbeat=30&timeout={timeout}", b"", then)


# Sandboxes


@step(0.4, box=BOX)
def reset(world: World, box: str) -> None:
    """Begin a sandbox anew."""
    world.renewed[box] += 1
    _to(world, box, "POST", "/reset")


@step(3, box=one_of("box-a", "box-b"), number=number(0, VARIANTS - 1), mode=one_of("manual", "real", "xN"))
def create(world: World, box: str, number: int, mode: str) -> None:
    """Make one more sandbox."""
    if world.find(box) is None:
        world.renewed[box] += 1
        world.control(_build(world, SandboxSpec(variant(number, mode), box)))


async def _build(world: World, spec: SandboxSpec) -> None:
    """As the control API does, once it has read the scenario, which takes long and is not the subject here."""
    live = await world.app.sandboxes.build(spec)
    live.start()


@step(0.1)
def restart(world: World) -> None:
    """The process is killed and started again; what it had in memory alone is gone."""
    world.crash()
    world.begin()


@step(0.4, box=one_of("box-a", "box-b"))
def delete(world: World, box: str) -> None:
    """Delete a sandbox."""
    _to(world, box, "DELETE", "")
