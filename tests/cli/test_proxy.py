"""Options that `proxy` refuses, without a part of a secret; and verbs that ask a running proxy."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from click.testing import Result

from tests.support.broken_receivers import says
from tests.support.processes import DEADLINE_S, PROGRAM, environment
from tests.support.proxies import proxied
from tests.support.runner import invoke, refusal

UPSTREAM = ("--upstream", "http://127.0.0.1:9")

REFUSED = [
    (("--upstream", "ftp://host"), "the address is not a base URL such as"),
    (("--upstream", "http://user:hush@host"), "the address is not a base URL such as"),
    (("--upstream", "http://host/?a=hush"), "the address is not a base URL such as"),
    ((*UPSTREAM, "--callbacks-to", "host:3000"), "the address is not a base URL such as"),
    ((*UPSTREAM, "--key", "k"), "give both --key and --secret, or neither"),
    ((*UPSTREAM, "--key", "k", "--secret", "hush!"), "the secret is not Base64"),
    ((*UPSTREAM, "--timeout", "0"), "0"),
    ((*UPSTREAM, "--record", "/nowhere/at/all.yaml"), "name a file in a folder that you may write"),
    ((), "Missing option '--upstream'"),
]


@pytest.mark.parametrize(("flags", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_a_flag_that_cannot_be_used_is_one_line_and_exit_code_2(flags: tuple[str, ...], words: str) -> None:
    done = invoke("proxy", *flags)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "hush" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_address_of_another_machine_is_exit_code_3(tmp_path: Path) -> None:
    done = invoke("proxy", *UPSTREAM, "--host", "192.0.2.1")
    assert done.exit_code == 3
    assert "is not an address of this machine" in done.stderr


ACCEPTED = b'{"statusCode":1,"status":"Accepted","product":"RELOAD","account":"0123456789","amount":10,"refid":"r1"}'
PAID = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{"data":%b}' % (
    len(ACCEPTED) + 9,
    ACCEPTED,
)


def asked_of_a_proxy(*verbs: tuple[str, ...], sends: bool = False) -> list[Result]:
    """Return the output of verbs with a proxy, which has passed on a payment if `sends`."""

    async def done() -> list[Result]:
        async with proxied(says(PAID)) as made:
            url = f"http://127.0.0.1:{made.port}"
            body = b'{"refid":"r1","product":"RELOAD","account":"0123456789","amount":10}'
            if sends:
                await made.get("/v2/topup", "Content-Type: application/json", method="POST", body=body)
            return [await asyncio.to_thread(invoke, *words, "--url", url) for words in verbs]

    return asyncio.run(done())


def test_verbs_for_which_a_proxy_has_no_path_say_what_the_address_is_and_what_works() -> None:
    for done in asked_of_a_proxy(("tail",), ("inbox",), ("clock",)):
        line = refusal(done, 1)
        assert "http://127.0.0.1:" in line
        assert "answered 404: this is `reseller-sim proxy`, which has no such path: `reseller-sim requests`" in line


def test_a_story_of_a_proxy_is_json() -> None:
    as_text, as_json = asked_of_a_proxy(("story", "r1"), ("story", "r1", "--json"), sends=True)
    assert "is `reseller-sim proxy`, whose stories are only JSON: add --json" in refusal(as_text, 1)
    assert [one["path"] for one in json.loads(as_json.stdout)["requests"]] == ["/v2/topup"]


def test_the_audit_of_a_proxy_judges_what_passed_and_says_when_nothing_did() -> None:
    assert "nothing was judged" in asked_of_a_proxy(("audit",))[0].stderr
    (done,) = asked_of_a_proxy(("audit", "--all"), sends=True)
    assert "nothing was judged" not in done.stderr
    assert " met, " in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux alone")
def test_a_first_line_that_cannot_be_written_ends_the_proxy_with_a_line() -> None:
    with open("/dev/full", "w") as full:
        process = [*PROGRAM, "proxy", *UPSTREAM, "--port", "0"]
        done = subprocess.run(process, stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=DEADLINE_S)
    assert done.returncode == 3
    assert done.stderr.decode() == "reseller-sim: stdout cannot be written: No space left on device\n"
