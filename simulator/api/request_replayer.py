"""Recorded requests, sent through the pipeline again: for the replay of a tape, and when a user repeats a request."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import msgspec

from simulator.api import refusals
from simulator.api.authentication import UNREAD_REFUSALS
from simulator.api.call import ApiCall, ApiRequest, BodyTooLarge, EncodedReply, Reply
from simulator.api.pipeline import Pipeline, admit, check_head
from simulator.api.routes import RESELLER_ROUTES
from simulator.auth.signature import Denied
from simulator.persistence.tape.entries import Resumption
from simulator.runtime.journal import UNEXPECTED, Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import SANDBOX_PREFIX, url_prefix

UNKNOWN_SANDBOX = "unknown_sandbox"
BY_SECRET = ("invalid_signature", "decryption_error")


class FailedAsRecorded(Exception):
    """The handler of a request failed on the tape."""


class RequestReplayer:
    """A replayer of recorded requests through a pipeline, with the client's recorded address."""

    def __init__(self) -> None:
        self._pipeline = Pipeline(
            {
                path: {
                    method: msgspec.structs.replace(endpoint, handle=partial(_handle_as_recorded, endpoint.handle))
                    for method, endpoint in methods.items()
                }
                for path, methods in RESELLER_ROUTES.items()
            }
        )

    def __call__(
        self,
        sandbox: LiveSandbox,
        recorded: Exchange,
        wait: Callable[[], Awaitable[Resumption]],
        url_sandbox: LiveSandbox | None = None,
        *,
        is_masked: bool = False,
        has_begun: bool = False,
    ) -> Coroutine[Any, Any, EncodedReply]:
        """Answer a recorded request. An awaited body arrives, or fails as recorded, when `wait` ends. `url_sandbox` is
        the sandbox that recorded the request, if it differs. With `is_masked`, the record has the verdict on the
        signature. `has_begun` when the tape has the beginning of the request apart from its answer."""

        async def receive() -> dict[str, Any]:
            match await wait():
                case Resumption.READY if recorded.error == UNEXPECTED and not recorded.body:
                    raise FailedAsRecorded
                case Resumption.TOO_LARGE:
                    raise BodyTooLarge
                case Resumption.GONE:
                    return {"type": "http.disconnect"}
            return {"type": "http.request", "body": recorded.body}

        request = _request(
            recorded,
            recorded.headers,
            body=None if recorded.is_awaited else recorded.body,
            receive=receive,
            replay_of=recorded.replay_of,
            verdict=partial(_verdict, recorded) if is_masked or _has_failed_anonymous(recorded) else None,
            recorded=recorded,
        )
        instead_of_steps: Callable[[ApiCall], Reply] | None = None
        if recorded.error == UNKNOWN_SANDBOX:
            named = recorded.path.removeprefix(SANDBOX_PREFIX).partition("/")[0]
            instead_of_steps = partial(refusals.unknown_sandbox, named)
        elif recorded.error in UNREAD_REFUSALS:
            instead_of_steps = partial(_refuse_as_before, recorded)
        elif recorded.is_awaited and not has_begun and _has_failed_anonymous(recorded):
            instead_of_steps = partial(self._fail_unread, recorded)
        return self._pipeline.answer(sandbox, recorded.path, request, recorded.prefix, url_sandbox, instead_of_steps)

    def _fail_unread(self, recorded: Exchange, call: ApiCall) -> Reply:
        """Fail a request before its body is read, after the steps that count it and the fault that it met."""
        if not admit(call) and recorded.fault and not self._pipeline.find_endpoint(call):
            check_head(call)
        raise FailedAsRecorded

    async def resend(
        self, sandbox: LiveSandbox, recorded_by: LiveSandbox, recorded: Exchange, headers: list[tuple[bytes, bytes]]
    ) -> tuple[int, bytes]:
        """Send a recorded request to a sandbox as a new request with these headers; see `control.requests.Resend`."""
        request = _request(recorded, headers, body=recorded.body, replay_of=recorded.n)
        prefix, url_sandbox = url_prefix(sandbox.id), None if sandbox is recorded_by else recorded_by
        status, lines, _, _ = await self._pipeline.answer(sandbox, recorded.path, request, prefix, url_sandbox)
        return status, lines


def _request(original: Exchange, headers: list[tuple[bytes, bytes]], **others: Any) -> ApiRequest:
    """Return a recorded request with these headers."""
    return ApiRequest(
        method=original.method,
        query=original.query,
        headers=headers,
        by_name=dict(headers),
        client=original.client,
        target=original.target,
        scheme=original.scheme,
        **others,
    )


def _handle_as_recorded(handle: Callable[[ApiCall], Reply], call: ApiCall) -> Reply:
    """Execute a request. If it failed on the tape, it fails: after it was executed if it had a transaction, and before
    that otherwise, as it had changed nothing."""
    recorded = call.request.recorded
    if recorded is None or recorded.error != UNEXPECTED:
        return handle(call)
    if recorded.trxid:
        handle(call)
    raise FailedAsRecorded


def _has_failed_anonymous(recorded: Exchange) -> bool:
    """Return whether a request failed before its caller was authenticated, and so before its nonce was spent."""
    return recorded.error == UNEXPECTED and not recorded.reseller


def _verdict(recorded: Exchange) -> Denied | None:
    if _has_failed_anonymous(recorded):
        raise FailedAsRecorded
    verdict = Denied(recorded.error, recorded.diagnosis, recorded.public_diagnosis)
    return verdict if recorded.error in BY_SECRET else None


def _refuse_as_before(recorded: Exchange, call: ApiCall) -> Reply:
    """Return the recorded refusal of a request that was refused before it was read."""
    call.exchange.error, call.exchange.diagnosis = recorded.error, recorded.diagnosis
    return Reply(recorded.status, recorded.content)
