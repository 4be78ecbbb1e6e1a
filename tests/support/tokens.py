"""Requests with legacy tokens instead of a signature."""

import json
from typing import Any

from tests.support.client import Client, Response

USER, PASSWORD = "test_user_RS001", "test_password_RS001"
CREDENTIALS = {"username": USER, "password": PASSWORD}


def post(client: Client, path: str, body: Any, *, at: str = "", **headers: str) -> Response:
    """An unsigned POST with a JSON body, or with bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.send("POST", at + path, "", content, {name.replace("_", "-"): text for name, text in headers.items()})


def login(client: Client, at: str = "", username: str = USER) -> dict[str, Any]:
    response = post(client, "/v2/token", CREDENTIALS | {"username": username}, at=at)
    assert response.status == 200, response.body
    result: dict[str, Any] = response.json
    return result


def refresh(client: Client, token: Any, at: str = "") -> Response:
    return post(client, "/v2/token/refresh", {"refresh_token": token}, at=at)


def get(client: Client, token: str, target: str = "/v2/balance", **headers: str) -> Response:
    path, _, query = target.partition("?")
    return client.send("GET", path, query, b"", {"authorization": f"Bearer {token}", **headers})


def pay_by_token(client: Client, token: str, refid: str = "r-1") -> Response:
    body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": "10"}
    return post(client, "/v2/topup", body, authorization=f"Bearer {token}")
