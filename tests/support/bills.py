"""Looking up a bill."""

from typing import Any
from urllib.parse import urlencode

from tests.support.client import Client, Response

PATH = "/v2/bill-presentment"
ACCOUNT = "210012345678"


def look_up(client: Client, product: str = "ELECTRIC", account: str = ACCOUNT, **more: Any) -> Response:
    headers = {"headers": more.pop("headers")} if "headers" in more else {}
    query = urlencode({"product": product, "account": account, **more})
    return client.call("GET", f"{PATH}?{query}", **headers)
