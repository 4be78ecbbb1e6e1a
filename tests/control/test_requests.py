"""The journal's filters."""

from tests.support.client import running


def test_a_misspelt_filter_is_refused_with_the_names_of_all_in_the_order_of_the_documentation() -> None:
    with running() as client:
        refused = client.sim("GET", "/sandboxes/default/requests?metod=GET")
    known = "method, path, status, reseller, trxid, refid, rule, error, limit, cursor, wait_for, timeout"
    assert refused.status == 400
    assert refused.json["message"] == f"there is no parameter 'metod'; use {known}"
