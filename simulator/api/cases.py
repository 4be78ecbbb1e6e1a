"""`POST /v2/transactions/check` and `/v2/transactions/void` (SPEC 4.12, 4.13)."""

from simulator.api.call import Call, Problems, Reply
from simulator.api.diagnoses import explain
from simulator.api.refusals import refuse_parameters
from simulator.domain.commands import OpenCase
from simulator.domain.model.answers import NoSuchTransaction
from simulator.domain.model.cases import CaseKind
from simulator.wire import cases


def check(call: Call) -> Reply:
    """Dispute a payment. 200 with `Success` or `Failed`; 400 when the reseller has no such transaction."""
    return _open(call, CaseKind.DISPUTE)


def void(call: Call) -> Reply:
    """Void a payment; the same answers."""
    return _open(call, CaseKind.VOID)


def invalid_request(call: Call, problems: Problems) -> Reply:
    """400 by field. Problems of the reference are reported as `trxid`, even when `refid` was sent (SPEC 4.12)."""
    errors: dict[str, list[str]] = {}
    for path, texts in problems.items():
        field = "trxid" if path in ("", "refid") else path
        prefix = "" if path == field else f"{path or 'the request'} "
        errors.setdefault(field, []).extend(prefix + text for text in texts)
    return refuse_parameters(errors)


def _open(call: Call, kind: CaseKind) -> Reply:
    fields, exchange = call.fields, call.exchange
    refund_type = fields.get("refund_type") if kind is CaseKind.VOID else None
    outcome = call.sandbox.apply(
        OpenCase(
            kind=kind,
            reseller=call.owner.code,
            refid=fields.get("refid", ""),
            trxid=fields.get("trxid", ""),
            user_email=tuple(fields.get("user_email", ())),
            refund_type=None if refund_type is None else int(refund_type),
            refund_reason=fields.get("refund_reason", ""),
            rule=exchange.selected_rule,
            sender=exchange.client,
            key=call.key,
        ),
        call.now,
    )
    if isinstance(outcome, NoSuchTransaction):
        exchange.error = "unknown_transaction"
        explain(call, outcome.detail)
        return refuse_parameters({"trxid": [f"there is no transaction of this {outcome.named_by}"]})
    exchange.refid, exchange.trxid = outcome.transaction.refid, outcome.transaction.trxid
    exchange.rule = outcome.rule
    explain(call, outcome.detail, "" if outcome.is_accepted else outcome.rule)
    return Reply(200, cases.answer(outcome))
