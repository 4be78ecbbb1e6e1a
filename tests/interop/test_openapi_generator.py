"""Clients that OpenAPI Generator writes from both served documents: valid for it, complete, and compiled.

C# is generated only, since its compiler is in no package registry. The models of Java are compiled, which is where
schemas matter; the rest needs OkHttp.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.java_stubs import JAVA_STUBS
from tests.support.processes import environment
from tests.support.programs import node_command, program, required
from tests.support.served_documents import NAMES, fetch, operations
from tests.support.shared_work import once

pytestmark = [pytest.mark.slow, pytest.mark.needs("java", "javac", "gson", "go", "php", "openapi-generator")]

COMMAND = Path(sys.executable).parent / "openapi-generator-cli"
LANGUAGES = ("python", "go", "java", "typescript-axios", "php", "csharp")
GENERATION_S = 300.0  # a minute of processor time on a machine that may be busy

IMPORT_ALL = """
import importlib, pkgutil, openapi_client
names = [found.name for found in pkgutil.walk_packages(openapi_client.__path__, "openapi_client.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""
PARSE = "foreach (array_slice($argv, 1) as $path) token_get_all(file_get_contents($path), TOKEN_PARSE);"
VALIDATOR = "package validator\n\nfunc Validate(value interface{}) error { return nil }\n"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both documents as a server serves them."""
    program("java")
    required("openapi-generator", COMMAND.exists())
    return once(tmp_path_factory, "openapi-generator", fetch)


def run(folder: Path, *command: str | Path, **variables: str) -> str:
    """Return what a command prints that ends well."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=GENERATION_S,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def generated(documents: Path, name: str, language: str, folder: Path) -> Path:
    """Return the folder with the client of a document in a language."""
    run(folder, COMMAND, "generate", "-i", documents / f"{name}.json", "-g", language, "-o", folder / "client")
    return folder / "client"


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_valid(documents: Path, name: str) -> None:
    assert "error" not in run(documents, COMMAND, "validate", "-i", documents / f"{name}.json").lower()


@pytest.mark.parametrize("name", NAMES)
def test_python_is_complete_and_imported(documents: Path, name: str, tmp_path: Path) -> None:
    client = generated(documents, name, "python", tmp_path)
    run(client, sys.executable, "-m", "compileall", "-q", ".")
    assert int(run(client, sys.executable, "-W", "ignore", "-c", IMPORT_ALL)) > 100
    found = "".join(path.read_text() for path in (client / "openapi_client" / "api").glob("*_api.py"))
    methods = set(re.findall(r"^    def (\w+)\(", found, re.MULTILINE))
    wanted = {re.sub("([A-Z])", r"_\1", each.id).lower() for each in operations(documents, name)}
    assert wanted <= methods


@pytest.mark.parametrize("name", NAMES)
def test_go_is_compiled(documents: Path, name: str, tmp_path: Path) -> None:
    go, client = program("go"), generated(documents, name, "go", tmp_path)
    stub = client / "validator"
    stub.mkdir()
    (stub / "go.mod").write_text("module gopkg.in/validator.v2\n")
    (stub / "validator.go").write_text(VALIDATOR)
    package = "gopkg.in/validator.v2"
    run(client, go, "mod", "edit", f"-replace={package}=./validator", f"-require={package}@v2.0.0")
    variables = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    run(client, go, "build", ".", **variables)


@pytest.mark.parametrize("name", NAMES)
def test_the_models_of_java_are_compiled(documents: Path, name: str, tmp_path: Path) -> None:
    javac, gson = program("javac"), program("gson")
    source = generated(documents, name, "java", tmp_path) / "src/main/java/org/openapitools/client"
    files = [*(source / "model").glob("*.java"), source / "JSON.java", source / "ApiException.java"]
    for path, text in JAVA_STUBS.items():
        stub = tmp_path / "stubs" / path
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(text)
        files.append(stub)
    (tmp_path / "classes").mkdir()
    run(tmp_path, javac, "-nowarn", "-proc:none", "-d", tmp_path / "classes", "-cp", f"{gson}:{jar()}", *files)


def jar() -> Path:
    """Return the generator's own jar, which has the annotations that the models name."""
    (found,) = Path(sys.executable).parents[1].glob("lib/python3*/site-packages/openapi_generator_cli/*.jar")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_typescript_is_compiled(documents: Path, name: str, tmp_path: Path) -> None:
    tsc, client = node_command("tsc"), generated(documents, name, "typescript-axios", tmp_path)
    (client / "node_modules").symlink_to(Path(tsc).parents[1])
    options = ("--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext")
    run(client, tsc, *options, "index.ts")


@pytest.mark.parametrize("name", NAMES)
def test_php_is_read(documents: Path, name: str, tmp_path: Path) -> None:
    php, client = program("php"), generated(documents, name, "php", tmp_path)
    files = list((client / "lib").rglob("*.php"))
    assert len(files) > 50
    run(client, php, "-r", PARSE, *files)


@pytest.mark.parametrize("name", NAMES)
def test_csharp_is_generated(documents: Path, name: str, tmp_path: Path) -> None:
    client = generated(documents, name, "csharp", tmp_path)
    found = "".join(path.read_text("utf-8") for path in (client / "src").rglob("Api/*.cs"))
    for each in operations(documents, name):
        assert f"{each.id[0].upper()}{each.id[1:]}Async(" in found
