"""An imported scenario answers as the account did, byte for byte: two simulators under one wall clock are compared."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.catalog_answers import answers
from tests.support.client import Client, running
from tests.support.imports import imported, run_import
from tests.support.processes import serving

ACCOUNT = str(Path(__file__).with_name("account.yaml"))
ACCOUNTS = {"DATA": ["0123456789", "0198765432"], "STUDENTLOAN": ["900101145678", "850505105555"]}
FACTS = ["foreign_currency"]  # of its product ODD
FLAGS = [f"--account={code}={number}" for code, numbers in ACCOUNTS.items() for number in numbers]


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file that was imported from the account."""
    with serving(ACCOUNT, "--port", "0", "--json") as server:
        yield imported(server.ready["url"], tmp_path_factory.mktemp("import"), *FLAGS, facts=FACTS)


@pytest.mark.slow
def test_every_answer_about_the_catalog_is_the_same(mine: Path) -> None:
    with running(ACCOUNT) as theirs, running(str(mine)) as ours:
        wanted, found = answers(theirs, ACCOUNTS), answers(ours, ACCOUNTS)
    assert len(wanted) > 200
    assert {target: body for target, body in found.items() if body != wanted[target]} == {}
    assert list(found) == list(wanted)


@pytest.mark.slow
def test_the_legacy_product_list_is_the_same_but_for_what_comments_name(mine: Path) -> None:
    """Prices of products with options for an account cannot be known from a few accounts."""

    def records(client: Client) -> dict[str, dict[str, object]]:
        return {one["product_code"]: one for one in client.call("GET", "/v2/product-list").data}

    with running(ACCOUNT) as theirs, running(str(mine)) as ours:
        wanted, found = records(theirs), records(ours)
    other = {
        (code, name): (record[name], wanted[code][name])
        for code, record in found.items()
        for name in record
        if record[name] != wanted[code][name]
    }
    assert {code for code, _ in other} <= {"DATA"}
    text = mine.read_text()
    assert [name for _, name in other if f"# product-list {name}: the account has" not in text] == []
    assert list(found) == list(wanted)


def test_the_file_has_no_other_differences(mine: Path) -> None:
    """Options that are drawn for each account, and options that a dynamic field no longer offers, are not visible."""
    named = [line.strip() for line in mine.read_text().splitlines() if "the account has" in line]
    assert [line for line in named if not line.startswith("# product-list ")] == []


def test_payments_are_made_with_the_key_of_the_file(mine: Path) -> None:
    with running(str(mine)) as ours:
        assert ours.key == "test_key_imported"
        assert ours.pay().data["status"] == "Accepted"
        ours.advance(10)
        assert ours.inbox()[-1]["method"] == "GET", "as the account has it"


@pytest.mark.slow
def test_the_accounts_own_urls_are_comments_unless_they_are_wanted(mine: Path, tmp_path: Path) -> None:
    text = mine.read_text()
    assert '# The account\'s own is { url: "https://shop.example.com/hook?for=me&and=you", method: GET }' in text
    assert '# The account\'s own is { url: "https://shop.example.com/balance", enabled: false }' in text
    with running(str(mine)) as ours:
        assert ours.call("GET", "/v2/callback-url").data["CallbackUrl"] == "inbox:callbacks"
    with serving(ACCOUNT, "--port", "0", "--json") as server:
        kept = imported(server.ready["url"], tmp_path, "--keep-urls", facts=FACTS)
    with running(ACCOUNT) as theirs, running(str(kept)) as ours:
        for target in ("/v2/callback-url", "/v2/balance-webhook"):
            wanted, found = theirs.call("GET", target).json, ours.call("GET", target).json
            wanted.pop("secret_last_four", None)
            found.pop("secret_last_four", None)
            assert found == wanted


@pytest.mark.slow
def test_without_account_numbers_the_file_names_the_missing_queries(tmp_path: Path) -> None:
    with serving(ACCOUNT, "--port", "0", "--json") as server:
        text = imported(server.ready["url"], tmp_path, facts=FACTS).read_text()
    assert "options of plan depend on an account number: import again with --account DATA=NUMBER" in text
    assert "options of loan depend on an account number: import again with --account STUDENTLOAN=NUMBER" in text


@pytest.mark.slow
def test_an_interrupted_import_continues_and_leaves_no_state_file(tmp_path: Path, mine: Path) -> None:
    with serving(ACCOUNT, "--port", "0", "--json") as server:
        url = server.ready["url"]
        first = run_import(url, tmp_path, *FLAGS, "--requests", "20")
        assert first.exit_code == 3
        assert "the limit of 20 requests was reached" in first.stderr
        assert "run the same command again" in first.stderr
        assert len((tmp_path / "state").read_text().splitlines()) == 20, "a header and all but the catalog"
        second = run_import(url, tmp_path, *FLAGS)
    assert "continuing: 19 answers are known" in second.stderr
    assert second.exit_code == 0
    assert _without_place(second.stdout) == _without_place(mine.read_text())
    assert list(tmp_path.iterdir()) == []


def _without_place(text: str) -> list[str]:
    """Without the port of the server and the time of its start."""
    return [line for line in text.splitlines() if "Imported by" not in line and "the catalog of" not in line]
