"""What comes to inboxes while their sandbox is between two lives."""

from simulator.runtime import inbox_inputs
from tests.support.client import running


def test_what_comes_to_an_inbox_between_two_lives_is_on_neither_tape() -> None:
    with running() as client:
        live = client.live
        inbox_inputs.clear(live, "callbacks")
        assert len(live.tape) == 1
        live.inboxes.close()
        inbox_inputs.clear(live, "callbacks")
        inbox_inputs.receive(live, "callbacks", "POST", b"", (), b"late")
        assert len(live.tape) == 1
