"""A running sandbox: messages to inboxes between two lives, and the memory of results."""

from tests.support.client import running


def test_a_message_to_an_inbox_between_two_lives_is_on_neither_tape() -> None:
    with running() as client:
        live = client.live
        live.inbox_inputs.clear("callbacks")
        assert len(live.tape) == 1
        live.inboxes.close()
        live.inbox_inputs.clear("callbacks")
        live.inbox_inputs.receive("callbacks", "POST", b"", (), b"late")
        assert len(live.tape) == 1


def test_attempts_with_the_same_answer_share_one_result_without_headers() -> None:
    with running() as client:
        replies = {"replies": [{"status": 202, "headers": {"X-Seen": "yes"}, "body": "seen"}] * 2}
        assert client.sim("PUT", "/sandboxes/default/inbox/callbacks", replies).status == 200
        client.pay("order-1")
        client.advance()
        first, second = (callback.attempts[0].result for callback in client.live.core.state.callbacks)
        assert first is second
        assert first is not None
        assert (first.status, first.body, first.headers) == (202, "seen", ())
