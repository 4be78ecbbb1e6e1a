"""Clients that generators write from the served documents, as docs/generate-a-client.md says: complete, typed, at work.

The page is played twice, in Python and in TypeScript, each once in a test run.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.generated_clients import PAGE, PYTHON, QUIET, STEP_S, STEPS, TYPESCRIPT, play, side
from tests.support.processes import DEADLINE_S, ROOT, environment
from tests.support.programs import node_command, program
from tests.support.served_documents import NAMES, operations
from tests.support.shared_work import once
from tests.support.signing import KEY, SECRET, SECRET_TEXT, sign

pytestmark = pytest.mark.slow

# Packages and files that the page has the generators write, by document.
PACKAGES = {"openapi": "reseller", "control": "control"}
TYPES = {"openapi": "reseller.ts", "control": "control.ts"}
FUNCTIONS = {"openapi": "reseller-client", "control": "control-client"}

# Members that the contract itself leaves open: any JSON.
ANY_JSON = {
    "control/models/explain_request.py: headers",
    "reseller/models/bill_answer_data.py: custom_field",
    "control/models/inbox_answer_items_item.py: json",
    "control/models/assumptions_answer_assumptions_item.py: values",
    "control/models/product_answer_values_additional_property.py: after",
    "control/models/product_answer_values_additional_property.py: before",
    "control/models/scenario_bill.py: custom_field",
    "control/models/scenario_biller.py: custom_field",
    "control/models/scenario_check_answer.py: document",
    "control/models/scenario_damage.py: body",  # sent as it is
}

HOOK_LINES_MAX = 30
HOOKS = ("signing.py", "signing.ts")
IMPORTED = {"clock.py", "clock.ts", *HOOKS, "payments.py", "payments.ts"}  # by the page's programs

# Method, query and body of requests that are easily signed otherwise than they are sent.
REQUESTS = (
    ("GET", "b=2&a=1&flag&a=0&empty=", ""),
    ("GET", "date=2026-11-01%20-%202026-11-21&search=a%2Bb&date2=+", ""),
    ("DELETE", "", ""),
    ("POST", "", '{"refid": "é"}'),
    ("POST", "url=https%3A%2F%2Fexample.com%2F%3Fa%3D1&method=GET", ""),
)
CASES = json.dumps([(method, f"http://127.0.0.1:8080/s/one/v2/x?{query}", body) for method, query, body in REQUESTS])

STREAMS = {"streamEvents", "streamSandboxEvents"}
TEXTS = {"getRequestAsCurl", "getTape", *STREAMS, "getMetrics"}  # operations that answer no JSON


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the results of the page's commands for Python."""
    return once(tmp_path_factory, "python-clients", lambda folder: play(folder, PYTHON)) / "empty"


@pytest.fixture(scope="module")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Do so for TypeScript; the page's `tsc` compiles two more files of ours, which state the required types."""
    for name in ("tsc", "openapi-typescript", "openapi-ts"):
        node_command(name)
    return once(tmp_path_factory, "typescript-clients", lambda folder: play(folder, TYPESCRIPT, write_claims)) / "empty"


def write_claims(folder: Path) -> None:
    """A file for each document that does not compile unless each answer of success has a type."""
    for name in NAMES:
        lines = [
            "type Typed<T> = 0 extends 1 & T ? false : unknown extends T ? false : [T] extends [never] ? false : true;",
            f'import type {{ operations }} from "./{TYPES[name].removesuffix(".ts")}.js";',
            f'import type * as functions from "./{FUNCTIONS[name]}/index.js";',
        ]
        for each in operations(folder, name):
            for status, schema in each.success.items():
                if schema is not None:
                    content = f'operations["{each.id}"]["responses"][{status}]["content"]["{media_of(each.id)}"]'
                    function = f"functions.{each.id[0].upper()}{each.id[1:]}Responses[{status}]"
                    lines += [f"true satisfies Typed<{one}>;" for one in (content, function)]
        (folder / f"claims-{name}.ts").write_text("\n".join(lines) + "\n")


def media_of(operation: str) -> str:
    """The media type of an operation's answer."""
    files = {"getTape": "application/octet-stream"}
    return "text/event-stream" if operation in STREAMS else files.get(operation, "application/json")


def printed(folder: Path) -> dict[str, str]:
    """The output of the page's commands, by command."""
    shown: dict[str, str] = json.loads((folder / "printed.json").read_text())
    return shown


def test_the_page_s_python_is_generated_and_run_without_a_warning(python: Path) -> None:
    shown = printed(python)
    assert len(shown) == 4
    assert not re.search(r"warn|error|skip|missing", "".join(shown.values()), re.IGNORECASE), shown


def test_the_page_s_typescript_is_generated_compiled_and_run_without_a_warning(typescript: Path) -> None:
    shown = printed(typescript)
    assert len(shown) == 5
    assert shown["npx tsc\n"] == ""
    assert not re.search(r"warn|error|skip|missing", "".join(shown.values()), re.IGNORECASE), shown


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_a_module_in_python(python: Path, name: str) -> None:
    wanted = {(each.tag, snake(each.id)) for each in operations(python, name)}
    found = list((python / PACKAGES[name] / "api").glob("*/[!_]*.py"))
    assert {(path.parent.name, path.stem) for path in found} == wanted
    assert len(found) == len(wanted) == len(operations(python, name))
    for path in found:
        assert re.findall(r"^(?:async )?def (\w+)\($", path.read_text(), re.MULTILINE)[-4:] == [
            "sync_detailed",
            "sync",
            "asyncio_detailed",
            "asyncio",
        ]


def snake(name: str) -> str:
    return re.sub("([A-Z])", r"_\1", name).lower()


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_in_python_has_a_type(python: Path, name: str) -> None:
    for each in operations(python, name):
        module = (python / PACKAGES[name] / "api" / each.tag / f"{snake(each.id)}.py").read_text()
        (types,) = re.findall(r"^def _parse_response\([^)]*\) -> ([^:]*):", module, re.MULTILINE)
        # The generator writes Any for an answer without a body, and str for a text.
        is_empty = None in each.success.values() and each.id not in TEXTS
        assert ("Any" in re.findall(r"\w+", types)) == is_empty, f"{each.id}: {types}"


def test_every_member_in_python_has_a_type_but_where_the_contract_says_any_json(python: Path) -> None:
    found = {
        f"{path.relative_to(python)}: {member}"
        for name in PACKAGES.values()
        for path in (python / name / "models").glob("*.py")
        for member in re.findall(r"^    (\w+): .*\bAny\b", path.read_text(), re.MULTILINE)
        if member != "additional_properties"
    }
    assert found == ANY_JSON


def test_every_member_of_an_enum_in_python_has_a_name(python: Path) -> None:
    models = [path for name in PACKAGES.values() for path in (python / name / "models").glob("*.py")]
    assert [path.name for path in models if re.search(r"^    VALUE_\w+ = ", path.read_text(), re.MULTILINE)] == []


def test_the_python_clients_and_the_page_s_programs_pass_mypy(python: Path) -> None:
    settings = python / "mypy.ini"
    # The generator's own client.py types its arguments of httpx as objects, for any document.
    settings.write_text("[mypy]\nstrict = true\n\n[mypy-*.client]\ndisable_error_code = arg-type\n")
    checked = [*PACKAGES.values(), *(block.name for block in STEPS if block.name.endswith(".py"))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(settings), *checked],
        cwd=python,
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_its_types_and_its_function_in_typescript(typescript: Path, name: str) -> None:
    wanted = sorted(each.id for each in operations(typescript, name))
    types = (typescript / TYPES[name]).read_text().partition("\nexport interface operations {\n")[2]
    functions = (typescript / FUNCTIONS[name] / "sdk.gen.ts").read_text()
    webhooks = [found for found in re.findall(r"^    (\w+): \{$", types, re.MULTILINE) if found.startswith("receive")]
    found = re.findall(r"^    (\w+): \{$", types, re.MULTILINE)
    assert sorted(set(found) - set(webhooks)) == wanted
    assert sorted(re.findall(r"^export const (\w+) = <", functions, re.MULTILINE)) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_in_typescript_has_a_type(typescript: Path, name: str) -> None:
    """The claims were compiled with the page's programs, strictly, the libraries' own declarations included."""
    claims = (typescript / f"claims-{name}.ts").read_text()
    bodies = [schema for each in operations(typescript, name) for schema in each.success.values() if schema is not None]
    assert claims.count("satisfies Typed") == 2 * len(bodies)
    assert (typescript / "dist" / f"claims-{name}.js").exists()
    settings = json.loads((typescript / "tsconfig.json").read_text())["compilerOptions"]
    assert settings["strict"] is True
    assert "skipLibCheck" not in settings  # false by default


@pytest.mark.parametrize("name", HOOKS)
def test_the_hook_has_at_most_thirty_lines(name: str) -> None:
    (hook,) = [block for block in STEPS if block.name == name]
    assert len(hook.text.splitlines()) <= HOOK_LINES_MAX


def test_the_page_is_played_whole() -> None:
    """Each block is one that is fetched, or of a side that is played."""
    assert [block.language for block in STEPS if block.language not in ("sh", "text") and not block.action] == []
    programs = {block.name for block in STEPS if block.name.endswith((".py", ".ts"))} - IMPORTED
    run = "".join(block.text for block in STEPS if block.language == "sh")
    for name in programs:
        assert (f"python {name}" if name.endswith(".py") else f"node dist/{name.removesuffix('.ts')}.js") in run
    assert {side(block) for block in STEPS[1:]} == {PYTHON, TYPESCRIPT}


def test_the_python_hook_signs_what_is_sent(python: Path) -> None:
    code = (
        "import json, sys, httpx\nfrom signing import Signed\ncases, key, secret = sys.argv[1:]\n"
        "for method, url, body in json.loads(cases):\n"
        "    request = httpx.Request(method, url, content=body.encode())\n"
        "    sent = next(Signed(key, secret).auth_flow(request))\n"
        "    print(json.dumps([request.url.query.decode(), dict(sent.headers)]))\n"
    )
    assert_signed(ran(python, sys.executable, "-c", code, CASES, KEY, SECRET_TEXT))


def test_the_typescript_hook_signs_what_is_sent(typescript: Path) -> None:
    code = (
        'import { signing } from "./dist/signing.js";\n'
        "const [cases, key, secret] = process.argv.slice(1);\n"
        "for (const [method, url, body] of JSON.parse(cases)) {\n"
        "  const sent = await signing(key, secret)(new Request(url, { method, body: body || undefined }));\n"
        "  console.log(JSON.stringify([new URL(sent.url).search.slice(1), Object.fromEntries(sent.headers)]));\n"
        "}\n"
    )
    assert_signed(ran(typescript, program("node"), "--input-type=module", "-e", code, CASES, KEY, SECRET_TEXT))


def ran(folder: Path, *command: str) -> str:
    """Return the output of a successful program."""
    done = subprocess.run(
        command, cwd=folder, env=environment(**QUIET), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def assert_signed(shown: str) -> None:
    """Each signature covers the query that the client sends and the bytes of the body."""
    for line, (method, _, body) in zip(shown.splitlines(), REQUESTS, strict=True):
        query, headers = json.loads(line)
        sent = {name.lower(): value for name, value in headers.items()}
        timestamp, nonce = sent["x-timestamp"], sent["x-nonce"]
        wanted = sign(method, query, body.encode(), timestamp=timestamp, nonce=nonce, secret=SECRET)
        assert (sent["x-api-key"], sent["x-signature"]) == (KEY, wanted), line


def test_the_tests_use_the_versions_that_the_page_installs() -> None:
    commands = re.findall(r"^(pip|npm) install (?:--save-dev )?(.*)$", PAGE, re.MULTILINE)
    pinned = json.loads((Path(__file__).parent / "package.json").read_text())["devDependencies"]
    installed = {word for tool, words in commands if tool == "npm" for word in words.split()}
    assert len(installed) == 5
    for name, _, major in (word.rpartition("@") for word in installed):
        assert name, f"{major} has no version"
        assert f"{pinned[name]}.".startswith(f"{major}."), name
    assert [words for tool, words in commands if tool == "pip"] == [
        "openapi-python-client httpx",
        "openapi-generator-cli",
    ]
    assert '"openapi-python-client' in (ROOT / "pyproject.toml").read_text()


def test_packages_of_npm_are_pinned_and_the_lock_file_names_no_registry() -> None:
    here = Path(__file__).parent
    pinned = json.loads((here / "package.json").read_text())["devDependencies"]
    assert [version for version in pinned.values() if not re.fullmatch(r"(npm:[a-z-]+@)?\d+\.\d+\.\d+", version)] == []
    locked = json.loads((here / "package-lock.json").read_text())["packages"]
    assert locked[""]["devDependencies"] == pinned
    packages = {name: package for name, package in locked.items() if name}
    assert len(packages) > 100
    assert [name for name, package in packages.items() if "resolved" in package or "integrity" not in package] == []
