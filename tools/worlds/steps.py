"""Steps of a world: values that are drawn before the run and can be left out individually.

The arguments of a step have a meaning in any world. A step without anything to act on does nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from tools.worlds.randomness import drawn_for

if TYPE_CHECKING:
    from tools.worlds.world import World

Draw = Callable[[Random], Any]


@dataclass(frozen=True)
class Step:
    """One action in a world."""

    kind: str
    arguments: dict[str, Any]

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True)
class Kind:
    """A kind of step: its frequency, the draws of its arguments, and its function."""

    weight: float
    draws: dict[str, Draw]
    run: Callable[..., None]


KINDS: dict[str, Kind] = {}


def step(weight: float, **draws: Draw) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as the kind of step with its name."""

    def register(run: Callable[..., None]) -> Callable[..., None]:
        assert run.__name__ not in KINDS, "each kind has a name of its own"
        KINDS[run.__name__] = Kind(weight, draws, run)
        return run

    return register


def one_of(*choices: Any) -> Draw:
    """Draw one of these values; a repeated value is drawn more often."""
    return lambda random: random.choice(choices)


def number(least: int, most: int) -> Draw:
    """Draw a whole number."""
    return lambda random: random.randint(least, most)


BOX = one_of(*["default"] * 6, *["box-a"] * 3, "box-b")
WHO = one_of(*["R1"] * 4, *["R2"] * 3, "R3")


def draw_steps(seed: int, count: int) -> list[Step]:
    """Draw the steps of a seed. Each seed has frequent and rare kinds, so that rare combinations occur in some
    world."""
    random = drawn_for("steps", seed)
    names = list(KINDS)
    weights = [KINDS[name].weight * random.choice((0.2, 1.0, 1.0, 3.0)) for name in names]
    chosen = random.choices(names, weights, k=count)
    return [Step(name, {key: draw(random) for key, draw in KINDS[name].draws.items()}) for name in chosen]


def run_step(world: "World", one: Step) -> None:
    """Run a step."""
    KINDS[one.kind].run(world, **one.arguments)


def written(steps: Sequence[Step]) -> str:
    """Return steps as readable lines that can be pasted into a test."""
    return "\n".join(f"    {one!r}," for one in steps)
