"""The pipeline of every request of the reseller API, to be read from top to bottom.

`Pipeline.answer` processes what is due, reads the head, replies, and records the exchange. A request within the
sandbox's quota passes the steps in `_run_steps`, each of which may refuse it:

admit -> find the endpoint -> check the head -> await the body -> check the input -> execute

A scenario's fault is chosen in `check_head`, or in `check_input` if it depends on the body. A fault that prevents the
execution ends the steps with `FAULT_REPLIES`: `with_failures` makes its reply. The call waits for its fault once:

    in `await_body`          for a delay that is known by then, without a hold
    in `execute_with_fault`  for any other delay or hold before the execution
    in `with_failures`       for the delay or hold of a fault that prevents or follows the execution

`api/request_replayer` runs the same steps.

The pipeline awaits only the rest of a body, a fault's delay or hold, and overdue work that exceeds one turn's share.
All other requests are answered without suspending, so the server can answer them at once.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from time import perf_counter

import msgspec

from simulator.api import authentication, notes, refusals
from simulator.api.call import GONE, ApiCall, ApiRequest, ClientGone, EncodedReply, Reply
from simulator.api.clients import DIRECT, ClientResolver
from simulator.api.fault_effects import FAULT_REPLIES, await_fault, choose_fault, with_failures
from simulator.api.request_bodies import await_body, store_unread_body
from simulator.api.routes import Routes
from simulator.auth import headers as names
from simulator.contract.body import read_members
from simulator.contract.endpoints import PathTable
from simulator.contract.query import read_query
from simulator.domain.commands import CountRequest
from simulator.domain.model.domain_events import StatusChange
from simulator.persistence.tape.entries import RequestShown
from simulator.redaction import redact, redact_urls
from simulator.runtime.journal import Exchange, decode_rule_names, packed, reply_headers
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import NO_QUOTAS
from simulator.runtime.traces import trace_of
from simulator.wire.formats import encode
from simulator.wire.token_answers import deprecation


class Pipeline:
    """The pipeline that answers requests; `routes` is the route table, `clients` resolves addresses and schemes."""

    def __init__(self, routes: Routes, clients: ClientResolver = DIRECT) -> None:
        self._paths = PathTable(routes)
        methods = {method for by_method in routes.values() for method in by_method}
        self._shared = {text: text for text in (*methods, *self._paths.exact)}  # one object for many records
        self._deprecated = {
            path for path, by_method in routes.items() if any(each.is_deprecated for each in by_method.values())
        }
        self._clients = clients

    async def answer(
        self,
        sandbox: LiveSandbox,
        path: str,
        request: ApiRequest,
        prefix: str = "",
        url_sandbox: LiveSandbox | None = None,
        instead_of_steps: Callable[[ApiCall], Reply] | None = None,
    ) -> EncodedReply:
        """Answer a request to `sandbox`. `prefix` is the part of the URL's path before `path`. `instead_of_steps`,
        if given, makes the reply of a request within the quota, and no step runs.

        When credentials selected another sandbox than the URL, `url_sandbox` is the sandbox of the URL. `sandbox`
        records the request if its caller was authenticated; otherwise `url_sandbox` does.
        """
        began = perf_counter()
        sandbox.is_touched = True
        wall = sandbox.clock.wall()
        now = sandbox.clock.at(wall)
        if not sandbox.driver.catch_up(now):
            now = await sandbox.process_rest(now)
        counters = sandbox.counters  # a reset during the request replaces them
        call = self._read_head(sandbox, path, request, prefix, now, wall)
        reply, content = await self._reply(call, instead_of_steps, url_sandbox)
        recorder = sandbox if url_sandbox is None or call.reseller is not None else url_sandbox
        diagnosis, exchange = _complete(call, reply, content, url_sandbox), call.exchange
        exchange.duration_us = int((perf_counter() - began) * 1e6)
        if not recorder.is_deleted:
            record(call, recorder)
            if recorder is not sandbox or sandbox.counters is counters:  # no new life has begun meanwhile
                ending = "" if reply.ending is None else reply.ending.name
                recorder.counters.count(exchange, ending, self._paths.documented)
        return reply.status, reply_headers(recorder.id, exchange, diagnosis), content, reply.ending

    def _read_head(
        self, sandbox: LiveSandbox, path: str, request: ApiRequest, prefix: str, now: datetime, wall: datetime
    ) -> ApiCall:
        """Return the call of a request. Its exchange, the journal's record of it, has no reply yet."""
        pairs, headers = request.headers, request.by_name
        if len(headers) < len(pairs):
            headers = {}
            for name, value in pairs:  # repeated headers are joined by a comma, which none of our formats accepts
                headers[name] = headers[name] + b", " + value if name in headers else value
        client, scheme, clients = request.client, "", self._clients
        if not clients.is_direct or ":" in client:  # an address of IPv6 may contain one of IPv4
            client, scheme = clients.resolve(client, headers)
        exchange = Exchange(
            at=now,
            wall=wall,
            method=self._shared.get(request.method, request.method),
            path=self._shared.get(path, path),
            query=request.query,
            packed_headers=packed(pairs),
            client=client,
            target=request.target,
            replay_of=request.replay_of,
            prefix=prefix,
            is_awaited=request.body is None,
            scheme=request.scheme or scheme,
        )
        return ApiCall(
            request=request, sandbox=sandbox, now=now, wall=wall, exchange=exchange, headers=headers, core=sandbox.core
        )

    async def _reply(
        self, call: ApiCall, instead_of_steps: Callable[[ApiCall], Reply] | None, url_sandbox: LiveSandbox | None
    ) -> tuple[Reply, bytes]:
        """Return the reply and its encoded body. An unexpected exception becomes a reply as well."""
        try:
            reply = None if call.sandbox.spec.quotas is NO_QUOTAS else authentication.refuse_over_quota(call)
            if reply is None:
                reply = await self._run_steps(call) if instead_of_steps is None else instead_of_steps(call)
            if not call.has_body:
                recorders = (call.sandbox, url_sandbox)  # their expectations may count requests by a member of the body
                if any(each.counters.needs_bodies for each in recorders if each):
                    await store_unread_body(call)
            content = reply.body if type(reply.body) is bytes else encode(reply.body)
        except ClientGone:
            reply, content = Reply(0, b"", ending=GONE), b""
        except Exception as error:  # our defect: the reply and the journal report it
            reply = refusals.failed(call, error)
            content = encode(reply.body)
        if call.exchange.path in self._deprecated or names.AUTHORIZATION in call.headers:
            reply = with_deprecation(call, reply, self._deprecated)
        return reply, content

    async def _run_steps(self, call: ApiCall) -> Reply:
        """Run the steps of every call, in order. Each returns the reply that ends the call, or None to continue."""
        reply = admit(call) or self.find_endpoint(call) or check_head(call)
        if reply is not None and call.fault is not None:  # no step will read the body, which `audit` needs
            await store_unread_body(call)
        if reply is None and (call.fault or call.request.body is None):  # no body yet, or a fault that may delay it
            reply = await await_body(call)
        if reply is None:
            reply = check_input(call)
        if reply is None:
            reply = await execute_with_fault(call) if call.fault else execute(call)
        if not call.is_exact:
            notes.note_ignored_members(call)
        return reply if call.fault is None else await with_failures(call, reply)

    def find_endpoint(self, call: ApiCall) -> Reply | None:
        """Find the endpoint of a call, unless its path or method is refused."""
        exchange, paths = call.exchange, self._paths
        methods = paths.exact.get(exchange.path)
        if methods is None:
            _, methods, call.path_parameters = paths.match(exchange.path)
        if not methods:
            return refusals.unknown_path(call, paths.known)
        endpoint = methods.get(exchange.method)
        if endpoint is None:
            return refusals.wrong_method(call, list(methods))
        call.endpoint = endpoint
        return None


def admit(call: ApiCall) -> Reply | None:
    """Refuse a request to a closed sandbox. Count a request for its address, and refuse it above the address's rate
    limit (SPEC 8)."""
    sandbox = call.sandbox
    if sandbox.is_closed:
        return refusals.lost_sandbox(call)
    if sandbox.core.state.rates is not None and sandbox.apply(CountRequest(call.exchange.client), call.now):
        return authentication.refuse_blocked(call)
    return None


def check_head(call: ApiCall) -> Reply | None:
    """Check the rule that the request selects and the client's address, choose the fault if a rule decides it by the
    head, and identify the caller by the headers (SPEC 5.2). With a fault that prevents execution, the caller is
    not identified."""
    if b"x-sim-rule" in call.headers and (refusal := _check_selected_rule(call)):
        return refusal
    if refusal := authentication.refuse_address(call):
        return refusal
    if call.exchange.selected_rule or call.sandbox.core.state.faults.rules:
        choose_fault(call, before_body=True)
        if call.fault is not None and call.fault.rule.then.prevents_execution:
            return FAULT_REPLIES
    return authentication.identify(call)


def _check_selected_rule(call: ApiCall) -> Reply | None:
    if not call.headers[b"x-sim-rule"].strip():
        return None
    spellings = decode_rule_names(call.headers[b"x-sim-rule"])
    name = next(filter(call.sandbox.core.state.has_rule, spellings), spellings[-1])
    if not call.sandbox.core.state.has_rule(name):
        return refusals.unknown_rule(call, name)
    call.exchange.selected_rule = name
    return None


def check_input(call: ApiCall) -> Reply | None:
    """Verify the signature, spend the nonce, and validate the input against the contract. Then choose the fault,
    which may belong to a magic account, unless `check_head` has chosen it."""
    if call.request.body is not None:
        call.exchange.body, call.has_body = call.request.body, True
    if refusal := authentication.authenticate(call) or validate(call):
        return refusal
    book, account = call.sandbox.core.state.faults, call.fields.get("account")
    if call.fault is not None or not (call.exchange.selected_rule or book.rules or book.is_magic(account)):
        return None
    choose_fault(call)
    if call.fault is None:
        return None
    if refusal := authentication.refuse_late(call):
        return refusal
    return FAULT_REPLIES if call.fault.rule.then.prevents_execution else None


def validate(call: ApiCall) -> Reply | None:
    """Decode the endpoint's input into `call.fields`. Refuse input that violates the contract."""
    headers, endpoint, query, body = call.headers, call.endpoint, call.exchange.query, call.exchange.body
    source = endpoint.source
    ignored = body if source == "query" else query  # by an endpoint with an input
    if ignored or (body and not source) or names.API_VERSION in headers:
        notes.note_ignored_parts(call)
    if source == "query":
        call.fields, problems = read_query(query, endpoint.schema)
        if query:
            notes.note_ignored_parameters(call)
    elif source:
        assume = call.sandbox.scenario.assume
        # Arguments by position are faster, and every payment comes through here.
        call.fields, problems, call.is_exact = read_members(
            endpoint.schema,
            headers.get(b"content-type", b""),
            body,
            source == "form",
            assume.get("duplicate-json-keys") == "reject",
            assume.get("content-type") == "ignored",
        )
    else:
        return None
    if not problems:
        return None
    is_encoded = source != "query" and headers.get(b"content-encoding", b"identity") != b"identity"
    return refusals.refuse_input(call, {"body": [refusals.ENCODED]} if is_encoded and "body" in problems else problems)


def execute(call: ApiCall) -> Reply:
    """Execute a call now. Payments and deliveries that it causes inherit its trace context."""
    if b"traceparent" not in call.headers:
        return call.endpoint.handle(call)
    last_serial, _ = call.sandbox.core.state.deliveries.last
    try:
        return call.endpoint.handle(call)
    finally:
        _trace(call, last_serial)


async def execute_with_fault(call: ApiCall) -> Reply:
    """Execute a call after its fault's hold. Publish its events now, since its reply may still wait."""
    assert call.fault is not None, "without a fault the call is executed at once"
    if not call.fault.rule.then.after_commit and (refusal := await await_fault(call)):
        return refusal
    if call.is_lost:
        return refusals.lost_sandbox(call)
    reply = execute(call)
    call.sandbox.publish()
    return reply


def _trace(call: ApiCall, last_serial: int) -> None:
    """Assign the payments whose status changed, and the deliveries after `last_serial`, to the trace of the request."""
    trace = trace_of(call.exchange.headers)
    if trace is None:
        return
    sandbox = call.sandbox
    for event in sandbox.new_events:
        if isinstance(event, StatusChange):
            sandbox.courier.traces.note(event.number, trace)
    for delivery in sandbox.core.state.deliveries.after(last_serial):
        sandbox.courier.traces.note(delivery.id, trace)


def with_deprecation(call: ApiCall, reply: Reply, paths: Collection[str]) -> Reply:
    """Return the reply with the `Deprecation` header, if its path is one of the deprecated `paths` or its caller sent a
    bearer token alone (SPEC 9), unless the scenario suppresses it."""
    form = call.sandbox.scenario.assume.get("deprecation-header", "rfc9745")
    if form == "none" or (call.exchange.path not in paths and call.headers.get(names.API_KEY)):
        return reply
    return msgspec.structs.replace(reply, headers=(*reply.headers, (b"deprecation", deprecation(form))))


def _complete(call: ApiCall, reply: Reply, content: bytes, url_sandbox: LiveSandbox | None) -> str:
    """Complete the record of a call with its reply. Return the diagnosis for its client.

    The record hides the secrets of the call's sandbox. Other secrets are hidden only in the diagnosis: a replay does
    not know these, and must make the same record.
    """
    exchange, sandbox = call.exchange, call.sandbox
    exchange.status, exchange.content = reply.status, reply.journaled or content
    if reply.headers:
        exchange.own_headers = reply.headers
    if reply.ending is not None:
        exchange.ending = str(reply.ending)
    if not exchange.diagnosis:
        return ""
    own, *others = sandbox.secrets
    exchange.diagnosis = redact_urls(redact(exchange.diagnosis, (own,)))
    exchange.public_diagnosis = redact_urls(redact(exchange.public_diagnosis, (own,)))
    others += url_sandbox.secrets if url_sandbox else ()
    return redact(exchange.public_diagnosis or exchange.diagnosis, others)


def record(call: ApiCall, recorder: LiveSandbox) -> None:
    """Add a call to the journal of `recorder` and to the tape of the call's sandbox, and publish it with its events.

    | the call | the tape of its sandbox gets |
    |---|---|
    | has not waited | the whole call |
    | has waited, so that this tape, `call.tape`, has its beginning | its answer |
    | met a sandbox that was closed, or reset meanwhile | a `RequestShown`, which a replay does not execute |

    If another sandbox records the call, that sandbox's tape gets a `RequestShown`, and the third row does not apply.
    """
    exchange, own = call.exchange, call.sandbox
    if recorder is not own:
        exchange.owner = own.id
    size = recorder.journal.add(exchange)
    is_lost = own.is_closed or own.core is not call.core  # `call.is_lost`, inlined for speed
    if call.tape is None and not is_lost:
        own.tape.add(exchange, size)
    elif call.tape is own.tape:
        own.tape.add_answer(exchange, size)
    if recorder is own:
        if is_lost and call.tape is not own.tape:
            own.tape.add(RequestShown(exchange), size)
        own.publish(exchange.n)
    else:
        recorder.tape.add(RequestShown(exchange), size)
        recorder.events.note(exchange.n)
        own.publish()
