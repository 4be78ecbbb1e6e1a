"""The status codes of payments and of refused ones (SPEC 7.3)."""

from simulator.domain.model.transactions import STATUS_CODES, Reason, Status

CODES = {
    Status.ACCEPTED: 1,
    Status.PROCESSING: 2,
    Status.SUCCESSFUL: 20,
    Status.FAILED: 48,
    Status.REFUNDED: 53,
    Reason.BALANCE: 40,
    Reason.PRODUCT: 41,
    Reason.ACCOUNT: 42,
    Reason.EXTRAS: 43,
    Reason.PLAN_REQUIRED: 44,
    Reason.PLAN_UNKNOWN: 44,
    Reason.PLAN_MISMATCH: 44,
    Reason.REQUEST: 45,
    Reason.REFID: 46,
    Reason.DENOMINATION: 58,
}


def test_each_status_and_reason_has_a_code() -> None:
    assert STATUS_CODES == CODES
    assert set(CODES) == {*Status, *Reason}
