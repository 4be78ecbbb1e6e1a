"""Messages to inboxes while their sandbox is between two lives."""

from tests.support.client import running


def test_a_message_to_an_inbox_between_two_lives_is_on_neither_tape() -> None:
    with running() as client:
        live = client.live
        live.clear_inbox("callbacks")
        assert len(live.tape) == 1
        live.inboxes.close()
        live.clear_inbox("callbacks")
        live.receive("callbacks", "POST", b"", (), b"late")
        assert len(live.tape) == 1
