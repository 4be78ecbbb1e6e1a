"""No target of a client leads to the upstream's control API or out of a base path."""

import asyncio
import json

import pytest

from tests.support.broken_receivers import OK, says
from tests.support.proxies import Proxied, parts, proxied

DISGUISED = [
    "/%5fsim/sandboxes",
    "/_sim%2fsandboxes",
    "/%5F%73im",
    "//_sim/sandboxes",
    "/./_sim/sandboxes",
    "/x/../_sim/sandboxes",
    "/x/%2e%2E/_sim?a=1",
    "/../_sim/sandboxes",
    "/x\\..\\_sim",
    "/_sim;x/sandboxes",
]
CLIMBING = ["/../../admin", "/%2e%2e/admin", "/a/..%2fb", "/./a", "/..\\admin", "/..;x/admin", "/a/%2E?b=1"]


async def refuses(one: Proxied, target: str) -> None:
    status, _, body = parts(await one.get(target))
    said = json.loads(body)
    assert (status, said["error"]) == (404, "not_passed_on"), target
    assert said["message"].startswith("reseller-sim proxy, not the service: ")
    assert (one.upstream.requests, one.receiver.requests) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("target", DISGUISED)
def test_no_spelling_of_the_control_api_reaches_the_upstream(target: str) -> None:
    async def main() -> None:
        async with proxied(says(OK)) as one:
            await refuses(one, target)

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("target", CLIMBING)
def test_no_target_escapes_the_base_path_of_a_receiver(target: str) -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK)) as one:
            await refuses(one, f"/_sim/callbacks{target}")

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("target", [*CLIMBING, *DISGUISED])
def test_no_target_escapes_the_base_path_of_an_upstream(target: str) -> None:
    async def main() -> None:
        async with (
            proxied(says(OK)) as before,
            proxied(says(OK), upstream=f"http://127.0.0.1:{before.port}/s/default") as one,
        ):
            await refuses(one, target)
            assert before.upstream.requests == []

    asyncio.run(main())


@pytest.mark.slow
def test_an_upstream_whose_base_path_is_a_control_api_is_asked_nothing() -> None:
    async def main() -> None:
        async with proxied(says(OK), upstream="http://127.0.0.1:9/%5fsim") as one:
            await refuses(one, "/sandboxes")

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("target", ["/_simulate", "/_SIM/x", "/x/_sim", "/v2/a..b/...", "/v2/x?to=/_sim/../.."])
def test_other_targets_pass(target: str) -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK)) as one:
            assert parts(await one.get(target))[0] == 200
            assert parts(await one.get(f"/_sim/callbacks{target}"))[0] == 200
            assert one.upstream.requests[0].head[0] == f"GET {target} HTTP/1.1"
            assert one.receiver.requests[0].head[0].endswith(f"{target} HTTP/1.1")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("address", "called", "arrives"),
    [
        ("/", "", "/"),
        ("/", "?a=1", "/?a=1"),
        ("/hook", "", "/hook"),
        ("/hook", "/", "/hook/"),
        ("/hook", "?a=1", "/hook?a=1"),
        ("/hook/", "", "/hook/"),
        ("/hook/", "?a=1", "/hook/?a=1"),
        ("/hook/", "/x", "/hook/x"),
    ],
)
def test_a_callback_arrives_at_the_address_as_it_was_given(address: str, called: str, arrives: str) -> None:
    async def main() -> None:
        async with proxied(says(OK), says(OK), callbacks_path=address) as one:
            assert parts(await one.get(f"/_sim/callbacks{called}"))[0] == 200
            assert one.receiver.requests[0].head[0] == f"GET {arrives} HTTP/1.1"

    asyncio.run(main())
