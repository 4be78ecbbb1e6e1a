"""Steps of time: it passes, clocks are moved, and receivers change their behaviour."""

from typing import Any

from tools.worlds.network import MOODS
from tools.worlds.steps import BOX, number, one_of, step
from tools.worlds.world import World


@step(22, seconds=one_of(0.0, 0.05, 0.3, 1.0, 2.0, 2.0, 5.0, 5.0, 12.0, 31.0, 60.0, 61.0, 130.0, 320.0, 700.0))
def wait(world: World, seconds: float) -> None:
    """Let time pass."""
    world.loop.pass_time(seconds)


@step(6, box=BOX, by=one_of(0, 0.5, 2, 5, 20, 60, 60, 300, 3600, "idle"))
def advance(world: World, box: str, by: float | str) -> None:
    """Advance a sandbox's clock while everything else continues."""
    world.to(box, "POST", "/clock/advance", {"until": "idle"} if by == "idle" else {"seconds": by})


@step(0.5, box=BOX)
def stop_advance(world: World, box: str) -> None:
    """Stop the running advance, if any."""
    world.to(box, "DELETE", "/clock/advance")


@step(2, box=BOX, change=one_of({"mode": "real"}, {"mode": "manual"}, {"mode": "xN", "rate": 60}, {"rate": 0.5}))
def set_clock(world: World, box: str, change: dict[str, Any]) -> None:
    """Change the mode or the rate of a clock."""
    world.to(box, "PUT", "/clock", change)


@step(1, box=BOX, seconds=one_of(-5, 1, 60, 4000))
def jump(world: World, box: str, seconds: float) -> None:
    """Set a sandbox's time; overdue items happen later."""
    life = world.life(box)
    if life is not None and life.now is not None:
        to = life.now.timestamp() + seconds
        world.to(box, "PUT", "/clock", {"now": f"{world.moment(to):%Y-%m-%dT%H:%M:%S.%fZ}"})


@step(3, host=one_of("one.example", "two.example", "hooks.example"), mood=one_of(*MOODS, "mixed", "mixed"))
def change_mood(world: World, host: str, mood: str) -> None:
    """Change the behaviour of a receiver."""
    world.network.moods[host] = mood


INBOX_REPLIES: tuple[list[dict[str, Any]], ...] = (
    [], [{"status": 500}], [{"status": 500}, {"status": 200}], [{"disconnect": True}, {"status": 200}],
    [{"status": 200, "delay": 8}], [{"status": 429}, {"status": 404}],
)  # fmt: skip


@step(1.5, box=BOX, name=one_of("callbacks", "callbacks", "webhooks"), replies=number(0, len(INBOX_REPLIES) - 1))
def set_replies(world: World, box: str, name: str, replies: int) -> None:
    """Change what an inbox answers."""
    world.to(box, "PUT", f"/inbox/{name}", {"replies": INBOX_REPLIES[replies]})


@step(0.5, box=BOX, name=one_of("callbacks", "webhooks"))
def clear_inbox(world: World, box: str, name: str) -> None:
    """Clear an inbox."""
    world.to(box, "DELETE", f"/inbox/{name}")
