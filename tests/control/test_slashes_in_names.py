"""A slash in a name, written as %2F, leads to nothing: not to what has that name as its path."""

import pytest

from tests.support.client import running


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/_sim/sandboxes/default%2finbox%2Fcallbacks"),
        ("DELETE", "/_sim/sandboxes/default%2Fresellers%2FRS001%2Fapi-keys%2Ftest_key_RS001"),
        ("GET", "/_sim/sandboxes/default%2Fclock"),
        ("PUT", "/_sim/sandboxes/default/network/RELOAD%2Fx"),
    ],
)
def test_a_name_with_a_slash_is_no_path_to_something_else(method: str, path: str) -> None:
    with running() as client:
        client.send("POST", "/_sim/inbox/default/callbacks", body=b"{}")
        answer = client.send(method, path)
        assert (answer.status, answer.json["error"]) == (404, "unknown_path")
        assert "has a slash" in answer.json["message"]
        assert client.send("GET", "/_sim/sandboxes/default/inbox/callbacks").json["count"] == 1
        assert client.call("GET", "/v2/balance").status == 200
