"""Steps that configure running sandboxes: money, rules, faults, scenarios, products, keys."""

from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.webhooks import DeliveryState
from simulator.runtime.scenario_watch import switch_scenario
from tools.worlds.clients import Answered
from tools.worlds.scenarios import FAULTS, STEPS, VARIANTS, WAYS, variant
from tools.worlds.steps import BOX, WHO, number, one_of, step
from tools.worlds.world import World


@step(3, box=BOX, who=WHO, amount=one_of("1.00", "50.00", "400.00", "2.50"))
def deposit(world: World, box: str, who: str, amount: str) -> None:
    """Deposit money, which sends a webhook."""
    life = world.life(box)
    if life is not None and not life.live.is_closed and who in life.core.state.resellers:
        account = life.account(life.core.state.resellers[who])
        account.deposits[Decimal(amount)] += 1

        def then(answered: Answered) -> None:
            if answered.status == 201 and life.live.core is life.core:
                account.deposited += Decimal(amount)

        world.to(box, "POST", f"/resellers/{who}/deposits", {"amount": amount}, then)


@step(
    2,
    box=BOX,
    steps=one_of(*STEPS),
    way=number(0, len(WAYS) - 1),
    when=one_of({}, {"when": {"product": "RELOAD"}}, {"times": 1}),
)
def add_payment_rule(world: World, box: str, steps: str, way: int, when: dict[str, Any]) -> None:
    """Add a rule for payments."""
    rule: dict[str, Any] = {"then": STEPS[steps], "callbacks": WAYS[way], **when}
    world.to(box, "POST", "/rules", {"section": "payments", "rule": rule})


@step(2, box=BOX, fault=number(0, len(FAULTS) - 1), times=one_of(1, 1, 2, 5))
def add_fault(world: World, box: str, fault: int, times: int) -> None:
    """Add a fault for the next requests."""
    life = world.life(box)

    def then(answered: Answered) -> None:
        if answered.status == 201 and life is not None and life.live.core is life.core:
            life.fault_times[msgspec.json.decode(answered.body)["id"]] = times

    world.to(box, "POST", "/rules", {"section": "faults", "rule": FAULTS[fault] | {"times": times}}, then)


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
    """Add a rule for voids."""
    world.to(box, "POST", "/rules", {"section": "voids", "rule": {"then": then}})


@step(2, box=BOX, place=number(0, 5))
def remove_rule(world: World, box: str, place: int) -> None:
    """Remove a rule, the latest first."""
    life = world.life(box)
    if life is not None:
        ids = [rule.id for book in life.core.state.books.values() for rule, _ in book.counted_rules()]
        added = [id_ for id_ in ids if id_.startswith("added")] or ids
        if added:
            world.to(box, "DELETE", f"/rules/{added[place % len(added)]}")


@step(0.6, box=BOX, number=number(0, VARIANTS - 1))
def load_scenario(world: World, box: str, number: int) -> None:
    """Load another scenario, as `serve --watch` does when its file changes."""
    live = world.find(box)
    if live is not None and not live.is_closed:
        scenario = variant(number, "manual")
        loading = world.app.load(scenario) if box == "default" else switch_scenario(live, scenario)
        life = world.life(box)
        if life is not None:
            # A reseller that the scenario before did not have is set as the new one says.
            life.revoked = dict.fromkeys(life.revoked, False)
            life.shut = dict.fromkeys(life.shut, False)
        world.control(loading)


@step(1, box=BOX, product=one_of("WATER", "ELECTRIC", "RELOAD"), is_active=one_of(True, True, False))
def change_product(world: World, box: str, product: str, is_active: bool) -> None:
    """Deactivate or activate a product."""
    live = world.find(box)

    def then(answered: Answered) -> None:
        life = world.life(box)
        if answered.status == 200 and life is not None and life.live is live:
            life.products[product] = is_active

    world.to(box, "PATCH", f"/catalog/products/{product}", {"is_active": is_active}, then)


@step(0.7, box=BOX, product=one_of("WATER", "RELOAD"), status=one_of("Healthy", "Interruption"))
def set_network(world: World, box: str, product: str, status: str) -> None:
    """Set the network of a product to failing or healthy."""
    world.to(box, "PUT", f"/network/{product}", {"status": status})


@step(0.2, box=BOX, who=WHO)
def revoke_key(world: World, box: str, who: str) -> None:
    """Revoke a reseller's key and add another."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        key = f"key-{who}"

        def then(answered: Answered) -> None:
            if answered.status == 204 and not life.live.is_closed and life.live.core is life.core:
                life.revoked[key] = True

        life.revoked.setdefault(key, False)  # a kill after the commit leaves the answer out
        world.to(box, "DELETE", f"/resellers/{who}/api-keys/{key}", None, then)


@step(0.6, box=BOX, who=WHO, is_shut=one_of(True, False, False))
def set_allowlist(world: World, box: str, who: str, is_shut: bool) -> None:
    """Allow no address or every address of a reseller."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        life.shut[who] = False  # until it is known

        def then(answered: Answered) -> None:
            if answered.status == 200 and not life.live.is_closed and life.live.core is life.core:
                life.shut[who] = is_shut

        body = {"ip_allowlist": ["10.0.0.0/8"] if is_shut else []}
        world.to(box, "PATCH", f"/resellers/{who}/settings", body, then)


@step(1, box=BOX, place=number(0, 10))
def send_callback(world: World, box: str, place: int) -> None:
    """Repeat the callback of a payment."""
    life = world.life(box)
    if life is not None and life.core.state.transactions:
        trxids = list(life.core.state.transactions)
        world.to(box, "POST", f"/transactions/{trxids[-1 - place % len(trxids)]}/callbacks")


@step(1, box=BOX)
def replay_any_delivery(world: World, box: str) -> None:
    """Replay the latest failed delivery, as the console does."""
    life = world.life(box)
    failed = [one for one in (life.core.state.deliveries if life else ()) if one.state is DeliveryState.FAILED]
    if failed and life is not None:
        event = failed[-1].event.id

        def then(answered: Answered) -> None:
            if answered.status == 201 and not life.live.is_closed and life.live.core is life.core:
                life.replays[event] += 1

        world.to(box, "POST", f"/deliveries/{failed[-1].id}/replay", None, then)
