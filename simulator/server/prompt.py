"""What an application offers beside its ASGI call: to answer a whole request at once.

Most requests of a simulator need nothing but their own bytes, and come in one packet. To make a task and two messages
of each costs more than the network itself. So an application may have a method `prompt` that makes a coroutine of a
request that is whole. Its first step is taken without a task. If that was all, the answer is written; if it has to
wait, it goes on in a task like any other request.
"""

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Protocol


class Ending(Protocol):
    """How an answer ends, which is a value of the application's. `name` is empty where the whole answer goes out, `cut`
    where half of its body does, anything else where nothing does; `bytes_per_second` is its body's pace, 0 for none."""

    @property
    def name(self) -> str: ...
    @property
    def bytes_per_second(self) -> float: ...


PromptAnswer = tuple[int, bytes, bytes, Ending]
"""Status, header lines with their ends, body, ending."""
Making = Coroutine[Any, Any, PromptAnswer]
Prompt = Callable[[str, str, bytes, list[tuple[bytes, bytes]], str, bytes], Making | None]
"""Makes an answer of method, path, query, headers, client's address and body; None for what it does not take so."""


def prompt_of(app: Any) -> Prompt:
    """The application's `prompt`; of one that has none, a prompt that takes nothing."""
    prompt: Prompt = getattr(app, "prompt", lambda *_: None)
    return prompt


@coroutine
def resumed(making: Making, waits_for: Any) -> Generator[Any, Any, PromptAnswer]:
    """What is left of a coroutine after its first step, in which it began to wait for the future `waits_for`."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # a cancellation, which is the coroutine's to handle
                waits_for = making.throw(error)
            else:
                waits_for = making.send(sent)
    except StopIteration as made:
        answer: PromptAnswer = made.value
        return answer
