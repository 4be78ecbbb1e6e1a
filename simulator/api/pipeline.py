"""The one way through for every request of the reseller API, to be read from top to bottom.

bytes -> rate and address -> faults -> authenticate -> validate -> faults -> domain -> wire -> bytes, journal, driver

It waits for two things alone, the rest of a body and a fault's delay. A request that meets neither is answered without
a single await that suspends, which is what lets the server answer it at once.
"""

from time import perf_counter

from simulator.api import refusals
from simulator.api.addresses import client_address, refuse_address
from simulator.api.authentication import (
    authenticate,
    check_claim,
    refuse_blocked,
    refused_by,
)
from simulator.api.body import BodyTooLarge, ClientGone, read_body
from simulator.api.call import (
    Answer,
    Call,
    Endpoint,
    Problems,
    Reply,
    Request,
)
from simulator.api.counting import count_answer
from simulator.api.faults import meet_fault, spoiled
from simulator.api.notes import note_problems, note_unknown, note_unread
from simulator.api.paths import PathTable
from simulator.api.routes import Routes
from simulator.api.versions import marked_deprecated
from simulator.auth.signature import Denied
from simulator.contract.decode import BadJson, decode_object
from simulator.contract.form import decode_form
from simulator.contract.query import read_query
from simulator.contract.validate import validator
from simulator.runtime.journal import Exchange, reply_headers
from simulator.runtime.rule_names import meant
from simulator.runtime.sandboxes import LiveSandbox
from simulator.wire.json import encode


class Pipeline:
    """Answers one request of one sandbox; `routes` says what there is."""

    def __init__(self, routes: Routes, *, trust_forwarded: bool = False) -> None:
        self._paths = PathTable(routes)
        self._trust_forwarded = trust_forwarded

    async def __call__(
        self,
        sandbox: LiveSandbox,
        path: str,
        request: Request,
        *,
        prefix: str = "",
        anonymous: LiveSandbox | None = None,
        refusal: Reply | None = None,
    ) -> Answer:
        """Answer, write the journal, hand what became due to the driver. `path` is what follows `prefix`, which
        named the sandbox.

        A request that is not authenticated belongs to `anonymous`, where its address led; a `refusal` is all that
        some requests get.
        """
        began = perf_counter()
        sandbox.is_touched = True
        now = sandbox.driver.catch_up()
        headers = _joined(request.headers)
        client = client_address(request.client, headers.get(b"x-forwarded-for") if self._trust_forwarded else None)
        exchange = Exchange(now, request.method, path, request.query, request.headers, client)
        call = Call(sandbox, now, exchange, headers)
        call.prefix = prefix
        try:
            reply = refusal or await self._reply(call, request)
        except ClientGone:
            reply = Reply(0, b"", ending="gone")
        if call.is_deprecated:
            reply = marked_deprecated(call, reply)
        content = reply.body if type(reply.body) is bytes else encode(reply.body)
        exchange.status, exchange.content = reply.status, reply.journaled or content
        if anonymous is not None and call.reseller is None:
            sandbox = anonymous
        exchange.n = sandbox.journal.next_n()
        if reply.headers:
            exchange.own_headers = reply.headers
        exchange.duration_us = int((perf_counter() - began) * 1e6)
        sandbox.journal.add(exchange)
        count_answer(sandbox.counters, self._paths, exchange, reply.ending)
        call.sandbox.driver.rearm()
        return reply.status, reply_headers(sandbox.id, exchange), content, reply.ending

    async def _reply(self, call: Call, request: Request) -> Reply:
        state = call.sandbox.core.state
        if state.rates is not None and (blocked := refuse_blocked(call)):
            return blocked
        endpoint = self._endpoint(call)
        if isinstance(endpoint, Reply):
            return endpoint
        if refusal := _check_wanted_rule(call) or refuse_address(call):
            return refusal
        early = None
        if state.early_faults.may_choose(None, call.exchange.wanted_rule):
            early = await meet_fault(call, needs_body=False)
            if early is not None and early.comes_instead:
                return spoiled(call, early, Reply(0, b""))
        claim = check_claim(call, endpoint)
        if isinstance(claim, Denied):
            reply = refusals.deny(call, endpoint, claim)
        elif isinstance(claim, Reply):
            reply = claim
        else:
            body = request.body
            try:
                call.exchange.body = body if body is not None else await _rest_of_body(call, request)
            except BodyTooLarge:
                reply = refusals.deny(call, endpoint, Denied("body_too_large", refusals.BODY_BOUND))
            else:
                refused = authenticate(call, endpoint, claim, early) or _check_fields(call, endpoint)
                may_fail = refused is None and state.body_faults.may_choose(
                    call.fields.get("account"), call.exchange.wanted_rule
                )
                reply = await _handled(call, endpoint) if may_fail else refused or endpoint.handle(call)
        return reply if early is None else spoiled(call, early, reply)

    def _endpoint(self, call: Call) -> Endpoint | Reply:
        methods = self._paths.exact.get(call.exchange.path)
        if methods is None:
            methods, call.places = self._paths.match(call.exchange.path)
        if methods is None:
            return refusals.unknown_path(call.exchange.path, self._paths.known)
        endpoint = methods.get(call.exchange.method)
        if endpoint is None:
            return refusals.wrong_method(call.exchange.method, list(methods))
        if endpoint.is_deprecated:
            call.is_deprecated = True
        return endpoint


async def _rest_of_body(call: Call, request: Request) -> bytes:
    assert request.receive is not None, "a body that is not here yet comes from somewhere"
    body = await read_body(call.headers, request.receive)
    call.sandbox.driver.catch_up()  # it took time
    return body


async def _handled(call: Call, endpoint: Endpoint) -> Reply:
    """Carry a request out under the fault that it meets now that its body is known, if it meets one."""
    fault = await meet_fault(call, needs_body=True)
    if fault is None:
        return endpoint.handle(call)
    if refusal := refused_by(fault, call, endpoint):
        return refusal
    return spoiled(call, fault, Reply(0, b"") if fault.comes_instead else endpoint.handle(call))


def _check_fields(call: Call, endpoint: Endpoint) -> Reply | None:
    """Decode and validate what the endpoint takes; its own refusal when that is not what the contract says."""
    note_unread(call, endpoint)
    if not endpoint.schema:
        return None
    problems = _validate(call, endpoint)
    if not problems:
        return None
    note_problems(call, problems)
    return endpoint.invalid(call, problems)


def _joined(pairs: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers by name; what was sent twice is joined by a comma, which no format of ours lets through."""
    headers = dict(pairs)
    if len(headers) < len(pairs):
        headers = {}
        for name, value in pairs:
            headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def _check_wanted_rule(call: Call) -> Reply | None:
    wanted = call.headers.get(b"x-sim-rule")
    if wanted is None:
        return None
    names = meant(wanted)
    name = next(filter(call.sandbox.core.has_rule, names), names[-1])
    if not call.sandbox.core.has_rule(name):
        call.exchange.error = "unknown_rule"
        return refusals.unknown_rule(name)
    call.exchange.wanted_rule = name
    return None


def _validate(call: Call, endpoint: Endpoint) -> Problems:
    """Decode what the endpoint takes and hold it against its schema; the fields are in the call afterwards."""
    if endpoint.source == "query":
        call.fields, problems = read_query(call.exchange.query, endpoint.schema)
        note_unknown(call, endpoint)
        return problems
    rejects = call.sandbox.core.state.assumes("duplicate-json-keys", "reject")
    if endpoint.source == "form":
        content_type = call.headers.get(b"content-type", b"")
        call.fields, problems = decode_form(content_type, call.exchange.body, reject_duplicates=rejects)
        return problems or validator(endpoint.schema).problems(call.fields)
    try:
        call.fields = decode_object(call.exchange.body, reject_duplicates=rejects)
    except BadJson as bad:
        return {"body": [str(bad)]}
    return validator(endpoint.schema).problems(call.fields)
