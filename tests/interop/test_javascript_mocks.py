"""The JavaScript client beside libraries that mock the network or time: each line of docs/javascript.md is played."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.javascript_page import PAGE, javascript_project
from tests.support.npm_package import ran
from tests.support.processes import serving

pytestmark = pytest.mark.slow

LINES = dict(re.findall(r"^\| ([^|]+) \| `(.+)` \|$", PAGE.partition("\n## Other mock libraries\n")[2], re.MULTILINE))

IMPORTS = {
    "nock": 'import nock from "nock";',
    "MSW": 'import { http, passthrough } from "msw"; import { setupServer } from "msw/node";',
    "undici `MockAgent`": 'import { MockAgent, setGlobalDispatcher } from "undici";',
    "a replaced `fetch`": "",
}
PREPARATION = {
    "undici `MockAgent`": "const agent = new MockAgent(); setGlobalDispatcher(agent);",
    "a replaced `fetch`": 'const realFetch = fetch; const mocked = async () => { throw new Error("not mocked"); };',
}
STRICT_LINES = {
    "nock": "nock.disableNetConnect();",
    "MSW": 'setupServer().listen({ onUnhandledRequest: "error" });',
    "undici `MockAgent`": "agent.disableNetConnect();",
    "a replaced `fetch`": "globalThis.fetch = mocked;",
}
REFUSALS = {
    "nock": "Disallowed net connect",
    "MSW": "Cannot bypass a request",
    "undici `MockAgent`": "Mock dispatch not matched",
    "a replaced `fetch`": "not mocked",
}

SHOP = """
{imports}
import {{ Simulator }} from "reseller-sim";
{late_imports}
import {{ pay }} from "./shop.js";

const simulator = new Simulator();
const sandbox = await simulator.sandbox();
{preparation}
{line}
const status = await pay(sandbox, "order-1");
await sandbox.advance("1s");
const outside = await fetch("http://192.0.2.1/").then(String, (error) => `${{error.cause ?? error}}`);
console.log(JSON.stringify({{ status, payments: (await sandbox.transactions()).length, outside }}));
process.exit(0);
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return javascript_project(tmp_path_factory)


@pytest.fixture(scope="module")
def simulator() -> Iterator[dict[str, str]]:
    with serving("--port", "0", "--json") as server:
        yield {"RESELLER_SIM_URL": server.ready["url"]}


def test_the_page_has_a_line_for_each_mock() -> None:
    assert list(LINES) == ["mock", *IMPORTS][1:]


@pytest.mark.parametrize("is_first", [True, False], ids=["imported first", "imported last"])
@pytest.mark.parametrize("mock", IMPORTS)
def test_the_line_lets_the_code_under_test_reach_the_simulator_alone(
    project: Path, simulator: dict[str, str], mock: str, is_first: bool
) -> None:
    printed = play(project, simulator, mock, LINES[mock], is_first)
    assert '{"status":"Accepted","payments":1,' in printed
    assert REFUSALS[mock] in printed


@pytest.mark.parametrize("is_first", [True, False], ids=["imported first", "imported last"])
@pytest.mark.parametrize("mock", IMPORTS)
def test_without_the_line_the_code_under_test_is_cut_off_and_the_client_is_not(
    project: Path, simulator: dict[str, str], mock: str, is_first: bool
) -> None:
    printed = play(project, simulator, mock, STRICT_LINES[mock], is_first)
    assert '{"status":"unknown","payments":0,' in printed


def play(project: Path, simulator: dict[str, str], mock: str, line: str, is_first: bool) -> str:
    """Return what a shop prints that pays once beside a mock, and asks an address outside."""
    early, late = (IMPORTS[mock], "") if is_first else ("", IMPORTS[mock])
    preparation = PREPARATION.get(mock, "")
    name = f"mock-{list(IMPORTS).index(mock)}{is_first:d}.mjs"
    text = SHOP.format(imports=early, late_imports=late, preparation=preparation, line=line)
    (project / name).write_text(text)
    return ran(project, "node", name, variables=simulator)


FROZEN = """
const order = { refid: "order-1", product: "RELOAD", account: "0123456789", amount: 10 };

test.each(FREEZES)("waits end and callbacks arrive: %s", async (_, freeze) => {
  const receiver = await Receiver.start();
  freeze();
  await expect(sandbox.waitForCallback({ timeoutS: 0.1 })).rejects.toThrow(/in 0\\.1 s/);
  await expect(receiver.waitFor(1, { timeoutS: 0.1 })).rejects.toThrow(/in 0\\.1 s/);
  await sandbox.call("POST", `/v2/callback-url?url=${encodeURIComponent(receiver.url)}&method=POST`);
  expect((await sandbox.call("POST", "/v2/topup", order)).status).toBe(200);
  await sandbox.runUntilIdle();
  await sandbox.expectStatus("order-1", "Succesful");
  expect((await receiver.waitFor(2)).length).toBe(2);
  await receiver.close();
});

test("wrong arguments are refused in this runner's realm, right ones are taken", async () => {
  await expect(sandbox.expectCallback("order-1", { statuss: "Failed" })).rejects.toThrow("did you mean status?");
  await expect(sandbox.transaction(Promise.resolve("x"))).rejects.toThrow("refid is a Promise");
  await expect(sandbox.call("POST", "/v2/topup", { refid: new Map() })).rejects.toThrow("refid is a Map");
  for (const body of [new Uint8Array(5), Buffer.from("{}"), "{}"]) {
    const headers = new Headers({ "X-Trace": "1" });
    const answer = await sandbox.fetch("/v2/topup", { method: "POST", body, headers });
    expect(answer.status).toBe(400);
  }
  await sandbox.rule("payments", { when: { refid: ["a", "b"] }, then: [{ status: "Failed" }] });
  await sandbox.advance({ to: new Date((await sandbox.now()).getTime() + 1000) });
});
"""
SETUP = """
let simulator, sandbox;
beforeAll(() => void (simulator = new Simulator()));
beforeEach(async () => void (sandbox = await simulator.sandbox()));
afterEach(() => (MOCKS.useRealTimers(), sandbox.delete()));
"""
JEST = (
    'const { Receiver, Simulator } = require("reseller-sim");\n'
    "const MOCKS = jest;\n"
    "const FREEZES = [\n"
    '  ["modern", () => jest.useFakeTimers({ now: new Date("2030-01-01") })],\n'
    '  ["legacy", () => jest.useFakeTimers({ legacyFakeTimers: true })],\n'
    "];\n"
)
VITEST = (
    'import { afterEach, beforeAll, beforeEach, expect, test, vi as MOCKS } from "vitest";\n'
    'import { Receiver, Simulator } from "reseller-sim";\n'
    'const toFake = ["Date", "setTimeout", "setInterval", "setImmediate", "queueMicrotask", "performance", "hrtime"];\n'
    "const FREEZES = [\n"
    '  ["by default", () => MOCKS.useFakeTimers({ now: new Date("2030-01-01") })],\n'
    '  ["all", () => MOCKS.useFakeTimers({ toFake })],\n'
    "];\n"
)


@pytest.mark.parametrize(
    ("command", "name", "head", "count"),
    [
        ("npx jest clocks.test.cjs", "clocks.test.cjs", JEST, "Tests:       3 passed, 3 total"),
        ("npx vitest run clocks.spec.js", "clocks.spec.js", VITEST, "Tests  3 passed (3)"),
    ],
    ids=["Jest", "Vitest"],
)
def test_fake_timers_of_a_runner_do_not_reach_the_client(
    project: Path, simulator: dict[str, str], command: str, name: str, head: str, count: str
) -> None:
    (project / name).write_text(head + SETUP + FROZEN)
    assert count in ran(project, *command.split(), variables=simulator)
