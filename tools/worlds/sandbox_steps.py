"""Steps that read, watch, reset, create and delete sandboxes, and change them while requests arrive."""

from typing import Any

from simulator.runtime.lives import SandboxSpec
from tools.worlds.client_steps import PAY, pay_slowly
from tools.worlds.clients import Answered
from tools.worlds.configured_steps import revoke_key, set_allowlist
from tools.worlds.event_streams import gaps
from tools.worlds.memory import Awaited
from tools.worlds.scenarios import VARIANTS, variant
from tools.worlds.steps import BOX, number, one_of, step
from tools.worlds.world import World

READS = (
    "", "/clock", "/due", "/requests?limit=5", "/transactions?limit=5", "/ledger?limit=5", "/callbacks?limit=5",
    "/deliveries?limit=5", "/invariants", "/inbox/callbacks?limit=5", "/rules?limit=5", "/figures", "/coverage",
)  # fmt: skip


@step(1, box=BOX, path=one_of(*READS))
def look_at(world: World, box: str, path: str) -> None:
    """Read something of a sandbox."""
    world.to(box, "GET", path)


@step(1, box=BOX, more=number(1, 3), timeout=one_of(1, 20, 60))
def await_requests(world: World, box: str, more: int, timeout: int) -> None:
    """Wait for more requests in the journal."""
    life = world.life(box)
    if life is not None and not life.live.is_closed:
        target = f"/sandboxes/{box}/requests?limit=1&wait_for={len(life.journal) + more}&timeout={timeout}"
        task = world.clients.control("GET", target)
        world.awaited.append(Awaited(task, life.journal, life.journal.last_n + more))


@step(1, box=BOX, more=number(1, 3), timeout=one_of(1, 20, 60))
def await_callbacks(world: World, box: str, more: int, timeout: int) -> None:
    """Wait for more callbacks in an inbox."""
    world.to(box, "GET", f"/inbox/callbacks?limit=1&wait_for={more}&timeout={timeout}")


@step(0.7, box=one_of("default", "default", "box-a", ""), timeout=one_of(5, 60, 300))
def watch_events(world: World, box: str, timeout: int) -> None:
    """Read the events of a sandbox or of all; they must be complete or report how many are missing."""
    path = f"/sandboxes/{box}/events" if box else "/events"
    life = world.life(box) if box else None

    def then(answered: Answered) -> None:
        state = None if life is None or life.live.core is not life.core or life.live.is_closed else life.core.state
        logs = (life.journal, state.callbacks, state.deliveries) if life is not None and state is not None else None
        has_all = logs is not None and not any([logs[0].left_out, logs[1].left_out, logs[2].left_out])
        found = gaps(answered.body, may_miss=not has_all)
        world.answers.problems.extend(f"the events of {box or 'all sandboxes'}: {one}" for one in found)

    world.clients.control("GET", f"{path}?heartbeat=30&timeout={timeout}", b"", then)


@step(0.4, box=BOX)
def reset(world: World, box: str) -> None:
    """Reset a sandbox."""
    world.renewed[box] += 1
    world.to(box, "POST", "/reset")


@step(3, box=one_of("box-a", "box-b"), number=number(0, VARIANTS - 1), mode=one_of("manual", "real", "xN"))
def create(world: World, box: str, number: int, mode: str) -> None:
    """Create a sandbox."""
    if world.find(box) is None:
        world.renewed[box] += 1
        world.control(_build(world, SandboxSpec(variant(number, mode), box)))


async def _build(world: World, spec: SandboxSpec) -> None:
    """Build a sandbox as the control API does after it has read the scenario, which takes long and is not tested
    here."""
    live = await world.app.sandboxes.build(spec)
    live.start()


@step(0.1)
def restart(world: World) -> None:
    """Kill and restart the process; everything in memory is lost."""
    if world.disks:
        world.killed(world.disks[-1].left_now())
    else:
        world.crash()
        world.begin()


@step(1, commits=one_of(0, 1, 1, 2, 3, 5, 9, 30), is_before=one_of(True, False))
def kill(world: World, commits: int, is_before: bool) -> None:
    """Kill the process around one of the next commits, and continue from its disk."""
    if world.disks:
        world.disks[-1].kill_in(commits, is_before=is_before)


@step(0.4, box=one_of("box-a", "box-b"))
def delete(world: World, box: str) -> None:
    """Delete a sandbox."""
    world.to(box, "DELETE", "")


@step(0.5, **PAY, change=one_of("key", "addresses", "addresses", "sandbox"))
def change_while_sending(world: World, change: str, **of_payment: Any) -> None:
    """Revoke a key, block its clients or reset the sandbox while the body of a payment arrives."""
    box, who = of_payment["box"], of_payment["who"]
    pay_slowly(world, **of_payment, pauses=2, pause_s=2.0, is_cut=False)
    world.loop.pass_time(1.0)
    match change:
        case "key":
            revoke_key(world, box, who)
        case "addresses":
            set_allowlist(world, box, who, is_shut=True)
        case "sandbox":
            reset(world, box)
    world.loop.pass_time(8.0)
