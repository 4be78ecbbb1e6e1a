"""docs/signing.md: its numbers are right, its clients are accepted when they are run, and it has every refusal."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from reseller_sim import HMACAuth
from simulator.auth.signature import MESSAGES
from tests.support.processes import (
    DEADLINE_S,
    environment,
    run,
    serving,
)
from tests.support.signing import KEY, SECRET, SECRET_TEXT, sign

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "signing.md").read_text()
BEARER_CODES = {"invalid_token"}


def blocks(language: str) -> list[str]:
    """The page's code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, str]]:
    """A simulator, as variables that name it."""
    with serving("--port", "0", "--json") as server:
        yield environment(RESELLER_BASE_URL=server.ready["url"])


def numbers(block: str) -> dict[str, str]:
    """Return the result that an example prints."""
    return dict(re.findall(r"^(body hash|string|signature) +(\S+)$", block, re.MULTILINE))


@pytest.mark.parametrize(
    ("request_line", "body"),
    [
        ("POST /v2/topup", '{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":10}'),
        ("GET /v2/catalog?product_code=RELOAD&is_active=true", ""),
    ],
)
def test_the_numbers_of_the_page_equal_the_output_of_sign(request_line: str, body: str) -> None:
    method, _, path = request_line.partition(" ")
    assert request_line in PAGE
    assert body in PAGE
    vector = next(found for found in map(numbers, blocks("text")) if f":{method}:" in found.get("string", ""))
    flags = [*(["-d", body] if body else []), "--timestamp", "1795250000", "--nonce", "0123456789abcdef"]
    printed = run("sign", method, path, *flags).out
    assert printed.splitlines()[0] == vector["string"]
    assert f"X-Signature: {vector['signature']}\n" in printed
    assert vector["string"].endswith(f":{vector['body hash']}")


def test_the_shell_client_of_the_page_pays(service: dict[str, str]) -> None:
    (script,) = [block for block in blocks("sh") if "openssl" in block]
    answer = ran(["sh", "-c", script], service, needs=("openssl", "curl", "od"))
    assert answer is None or '"status":"Accepted"' in answer


def test_the_python_client_of_the_page_pays(service: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(blocks("python")[0])
    answer = ran([sys.executable, str(tmp_path / "client.py")], service, needs=())
    assert answer is not None
    catalog, payment = answer.splitlines()
    assert catalog.startswith("200  {")
    assert '"status":"Accepted"' in payment


def test_the_signer_of_the_page_signs_every_kind_of_request() -> None:
    for method, target, body in (
        ("GET", "/v2/catalog?b=2&a=1&flag&a=0&empty=", b""),
        ("GET", "/v2/transactions?date=2026-11-01%20-%202026-11-21&search=a%2Bb", b""),
        ("DELETE", "/v2/balance-webhook", b""),
        ("POST", "/v2/topup", b'{"refid": "\xc3\xa9"}'),
    ):
        request = httpx2.Request(method, f"http://127.0.0.1:8080{target}", content=body)
        sent = HMACAuth(KEY, SECRET_TEXT)(request).headers
        query = request.url.query.decode()
        wanted = sign(method, query, body, timestamp=sent["X-Timestamp"], nonce=sent["X-Nonce"], secret=SECRET)
        assert (sent["X-Api-Key"], sent["X-Signature"]) == (KEY, wanted)


def ran(command: list[str], variables: dict[str, str], needs: tuple[str, ...]) -> str | None:
    """Return the output of a client; None on a machine without its language."""
    if not all(map(shutil.which, needs)):
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, env=variables, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_page_has_every_refusal_of_a_signature() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(MESSAGES) - BEARER_CODES
