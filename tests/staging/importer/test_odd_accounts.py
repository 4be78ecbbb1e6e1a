"""Accounts that a scenario cannot express, that refuse, or that answer nonsense: every loss is reported, no secret."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.library import load_scenario
from simulator.staging.importer.account_answers import AnswerFile, ForeignStateFile, read_account
from tests.support.fake_account import answering
from tests.support.imports import KEY, SECRET, imported, run_import
from tests.support.processes import DEADLINE_S, PROGRAM, environment

HOSTILE = "x\n    - evil: \u2028 \x1b[31m \u202e # \ud83d\ude00"


def product(code: str, **more: Any) -> dict[str, Any]:
    """A product as the API shows it."""
    usual: dict[str, Any] = {
        "code": code,
        "name": f"Product {code}",
        "note": None,
        "image_url": "https://images.example.com/a.png",
        "processing_time": "instant",
        "is_active": True,
        "denomination": None,
        "denomination_currency": None,
        "denomination_unit_price": 1,
        "fields": [],
        "fulfillment": {"account": None, "amount": None, "extras": {}},
        "pricing": {
            "unit_price": "0.975",
            "currency": "MYR",
            "discount": {"type": "percentage", "value": "2.5%"},
            "price_adjustment": None,
            "has_loss_risk": False,
        },
        "min_amount": None,
        "max_amount": None,
    }
    return usual | more


def catalog(*products: dict[str, Any], groups: Any = ()) -> dict[str, Any]:
    return {
        "last_updated": "2026-11-01T00:00:00.000Z",
        "tree": {"groups": list(groups)},
        "products": {one["code"]: one for one in products},
    }


def field(id_: str = "who", **more: Any) -> dict[str, Any]:
    usual = {"id": id_, "type": "text", "input_mode": "text", "label": "Who", "placeholder": "", "required": True}
    return usual | {"order": 1, "role": "none", "validation": {}} | more


def pricing(**more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = product("X")["pricing"]
    return usual | more


LOST: list[tuple[str, dict[str, Any], str]] = [
    ("unknown member", {"loyalty": {"points": 3}}, 'catalog loyalty: the account has {"points":3}, this file nothing'),
    ("hostile text", {"loyalty": HOSTILE}, 'catalog loyalty: the account has "x\\n    - evil: \\u2028 \\u001b[31m'),
    ("relative image", {"image_url": "/a.png"}, 'catalog image_url: the account has "/a.png", this file ""'),
    ("blank note", {"note": ""}, 'catalog note: the account has "", this file null'),
    ("long name", {"name": "n" * 900}, 'catalog name: the account has "nnn'),
    (
        "kind of time",
        {"processing_time": "soon"},
        'catalog processing_time: the account has "soon", this file "instant"',
    ),
    ("list as kind of time", {"processing_time": ["instant"]}, "catalog processing_time: the account has ["),
    (
        "dear",
        {"pricing": pricing(unit_price="1.05")},
        'catalog pricing.unit_price: the account has "1.05", this file "1"',
    ),
    (
        "loss",
        {"pricing": pricing(has_loss_risk=True)},
        "catalog pricing.has_loss_risk: the account has true, this file false",
    ),
    ("digits", {"denomination_unit_price": 0.1234567891}, "catalog denomination_unit_price: the account has 0.12345"),
    (
        "pattern",
        {"fields": [field(validation={"pattern": "(?<=a)b"})]},
        'catalog fields[0].validation.pattern: the account has "(?<=a)b", this file nothing',
    ),
    (
        "two accounts",
        {"fields": [field("a", role="account"), field("b", role="account", order=2)]},
        'catalog fields[1].role: the account has "account", this file "none"',
    ),
    (
        "fulfillment",
        {"fulfillment": {"account": {"from_field": "nobody"}, "amount": None, "extras": {}}},
        'catalog fulfillment.account: the account has {"from_field":"nobody"}, this file null',
    ),
    ("fields", {"fields": "none"}, 'catalog fields: the account has "none", this file []'),
    (
        "currency of a limit",
        {"min_amount": {"amount": "1", "currency": "MYR"}},
        'catalog min_amount.amount: the account has "1", this file "1.00"',
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("more", "comment"), [row[1:] for row in LOST], ids=[row[0] for row in LOST])
def test_a_feature_that_a_scenario_cannot_express_is_a_comment(
    more: dict[str, Any], comment: str, tmp_path: Path
) -> None:
    with answering({"/v2/catalog": catalog(product("GOOD"), product("ODD", **more))}) as account:
        path = imported(account.url, tmp_path)
    text = path.read_text()
    assert [line for line in text.splitlines() if line.startswith(f"    # {comment}")] != [], text
    assert list(load_scenario(path).catalog.products) == ["GOOD", "ODD"]


@pytest.mark.slow
def test_options_that_cannot_be_written_are_counted(tmp_path: Path) -> None:
    """More of them than a report of problems holds."""
    items: list[dict[str, Any]] = [{"code": f"no {number}", "label": "Bad"} for number in range(300)]
    items += [
        {"code": "yes", "label": "Good"},
        {"code": "yes", "label": "Twice"},
        {"code": "more", "label": "Good", "extra": 1},
    ]
    source = {
        "type": "reference",
        "endpoint": "/options",
        "params": {"product_code": {"static": "P"}, "field_id": {"static": "f"}},
    }
    odd = product("P", fields=[field("f", type="select", data_source=source)])
    page = {"product_code": "P", "field_id": "f", "items": items, "meta": {"current_page": 1, "last_page": 1}}
    with answering({"/v2/catalog": catalog(odd), "/v2/options": page}) as account:
        path = imported(account.url, tmp_path)
    text = path.read_text()
    line = '    # options of f [no 0]: the account has {"code":"no 0","label":"Bad"}, this file nothing'
    assert f"{line} (and 299 more like it)" in text
    assert "    # options of f [more].extra: the account has 1, this file nothing" in text
    assert '    # options of f: the account has "303 items", this file "one for each of 302 codes"' in text
    assert [one.code for one in load_scenario(path).catalog.products["P"].options["f"]] == ["yes", "more"]


@pytest.mark.slow
def test_the_tree_is_compared_too(tmp_path: Path) -> None:
    groups = [
        {"id": "a b", "name": "Bad", "icon_url": "", "categories": []},
        {
            "id": "g",
            "name": "Good",
            "icon_url": "",
            "categories": [{"id": "c", "name": "C", "product_codes": ["P", "GONE"]}],
        },
    ]
    bad_code = product("two words")
    with answering({"/v2/catalog": catalog(product("P"), bad_code, groups=groups)}) as account:
        path = imported(account.url, tmp_path)
    text = path.read_text()
    assert "    # The account's product 'two words' cannot be written in a scenario." in text
    assert "  # tree groups: the account has [" in text
    [group] = load_scenario(path).catalog.groups
    assert (group.id, group.categories[0].product_codes) == ("g", ("P",))


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"no JSON",
        [],
        {"data": "x", "items": 5, "meta": []},
        {"data": [{"product_code": []}], "items": [{"code": {}}], "meta": {"last_page": "1"}},
        "text",
        b"[" * 100_000,
    ],
)
def test_an_unanswered_request_is_a_comment_after_any_failure(body: object, tmp_path: Path) -> None:
    paths = ["/v2/options", "/v2/networkstatus", "/v2/product-list", "/v2/subproducts", "/v2/callback-url"]
    extras = {
        "subproduct_code": {"from_field": "f", "path": "code"},
        "biller_code": {"from_field": "f", "path": "code"},
    }
    odd = product(
        "P",
        fields=[field("f", type="select", data_source={"type": "reference"})],
        fulfillment={"account": None, "amount": None, "extras": extras},
    )
    with answering({"/v2/catalog": catalog(odd)} | dict.fromkeys(paths, body)) as account:
        text = imported(account.url, tmp_path).read_text()
    assert "# - GET /v1/interbank/billers?page=1&limit=25000: the answer was 404" in text
    if isinstance(body, bytes):
        assert "# - GET /v2/product-list: the answer was not JSON" in text


@pytest.mark.slow
def test_products_without_a_code_of_their_own_are_named(tmp_path: Path) -> None:
    body = catalog(product("P"))
    body["products"] |= {"twin": product("P"), "blank": product(""), "text": "x"}
    with answering({"/v2/catalog": body}) as account:
        text = imported(account.url, tmp_path).read_text()
    for key in ("twin", "blank", "text"):
        assert f"# - the product '{key}' of the catalog has no code of its own" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "method"),
    [("https://me:pass@shop.example.com/", "POST"), ("https://shop.example.com/", "PUT"), ("ftp://\u202ex\n", "GET")],
)
def test_a_callback_that_a_scenario_refuses_is_a_comment_even_if_it_is_wanted(
    url: str, method: str, tmp_path: Path
) -> None:
    callback = {"data": {"Status": "Success", "CallbackUrl": url, "Method": method}}
    with answering({"/v2/catalog": catalog(product("P")), "/v2/callback-url": callback}) as account:
        path = imported(account.url, tmp_path, "--keep-urls")
    assert f"method: {method} }}; here the inbox receives in its place." in path.read_text()
    assert "me:pass" not in path.read_text()
    assert load_scenario(path).resellers[0].callback.url == "inbox:callbacks"


@pytest.mark.slow
def test_neither_key_nor_secret_is_written_or_printed(tmp_path: Path) -> None:
    """Even if the service sends them."""
    told = product("P", name=f"{KEY} {SECRET}", loyalty=[SECRET, KEY])
    listed = {"data": [{"product_code": "P", "product_name": SECRET, "product_group": KEY}]}
    answers = {"/v2/catalog": catalog(told), "/v2/product-list": listed}
    with answering(answers) as account:
        stopped = run_import(account.url, tmp_path, "--requests", "2")
        state = (tmp_path / "state").read_text()
        done = run_import(account.url, tmp_path)
    with answering({"/v2/catalog": (401, {"error": f"{KEY} {SECRET}", "message": SECRET}, {})}) as account:
        refused = run_import(account.url, tmp_path)
    assert (stopped.exit_code, done.exit_code, refused.exit_code) == (3, 0, 1)
    assert "(not shown)" in state
    assert "(not shown)" in done.stdout
    for text in (state, stopped.output, done.output, refused.output):
        assert KEY not in text
        assert SECRET not in text


@pytest.mark.slow
def test_the_secret_of_the_webhook_is_not_even_kept(tmp_path: Path) -> None:
    webhook = {
        "webhook_url": "https://shop.example.com/b",
        "enabled": True,
        "webhook_secret": "5e" * 32,
        "secret_last_four": "5e5e",
    }
    with answering({"/v2/catalog": catalog(product("P")), "/v2/balance-webhook": webhook}) as account:
        done = run_import(account.url, tmp_path)
        assert done.exit_code == 0
        stopped = run_import(account.url, tmp_path, "--requests", str(len(account.asked) - 1))
    assert stopped.exit_code == 3
    assert "5e5e" not in (tmp_path / "state").read_text() + done.output + stopped.output


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (
            (401, {"error": "invalid_signature", "message": "no"}, {}),
            1,
            "the service refused: GET /v2/catalog?include_inactive=true: 401 invalid_signature",
        ),
        ((403, b"<html>", {}), 1, "the service refused: GET /v2/catalog?include_inactive=true: 403"),
        ((302, b"", {"Location": "http://127.0.0.1:9/"}), 1, "the answer was 302"),
        ((200, b"{", {}), 1, "the answer was not JSON"),
        ((200, {"products": []}, {}), 1, "is not a catalog"),
        ((500, b"", {}), 3, "500; run the same command again"),
        (
            (429, b"", {"Retry-After": "9000"}),
            3,
            "the service asks for a pause of 9000 seconds; run the same command again",
        ),
    ],
)
def test_an_account_that_cannot_be_read_is_one_line(answer: Any, status: int, said: str, tmp_path: Path) -> None:
    with answering({"/v2/catalog": answer}) as account:
        done = run_import(account.url, tmp_path)
    assert done.exit_code == status
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert said in line
    assert not (tmp_path / "state").exists(), "nothing was learnt"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--account", "DATA"], "'DATA' is not a product and an account number such as DATA=0123456789"),
        (["--per-second", "0"], "per-second"),
        (["--timeout", "soon"], "is not a duration: write a duration such as 90s"),
        (["--base-url", "ftp://x"], "is not a base URL such as"),
    ],
)
def test_wrong_usage_is_reported(flags: list[str], said: str, tmp_path: Path) -> None:
    done = run_import("http://127.0.0.1:9", tmp_path, *flags)
    assert done.exit_code == 2
    assert said in done.stderr


def test_a_foreign_file_is_not_taken_for_a_state_file(tmp_path: Path) -> None:
    other = tmp_path / "state"
    other.write_text("my own notes\n")
    with answering({"/v2/catalog": catalog(product("P"))}) as account:
        done = run_import(account.url, tmp_path)
    assert done.exit_code == 3
    assert "is not a state file of this command" in done.stderr
    assert other.read_text() == "my own notes\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux alone")
def test_a_full_disk_is_named_with_the_state_file() -> None:
    with pytest.raises(ForeignStateFile, match="'/dev/full' cannot be written: No space left on device"):
        AnswerFile(Path("/dev/full"), "account", str).put("/v2/catalog", 200, {})


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["catalog", "key"])
def test_answers_about_another_catalog_or_account_are_not_taken_up(changed: str, tmp_path: Path) -> None:
    answers = {"/v2/catalog": catalog(product("P"))}
    with answering(answers) as account:
        assert run_import(account.url, tmp_path, "--requests", "3").exit_code == 3
        answers["/v2/catalog"] = catalog(product("P")) | ({"last_updated": "later"} if changed == "catalog" else {})
        again = run_import(account.url, tmp_path, **({"key": "another_key_of_mine"} if changed == "key" else {}))
    assert again.exit_code == 0
    assert "continuing" not in again.stderr
    assert account.asked.count("/v2/product-list") == 2


@pytest.mark.slow
def test_a_line_that_was_cut_off_or_is_no_answer_is_asked_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with answering({"/v2/catalog": catalog(product("P"))}) as account:
        assert run_import(account.url, tmp_path, "--requests", "3").exit_code == 3
        state.write_bytes(state.read_bytes()[:-9] + b"\n[]\n{}\nnull\n")
        done = run_import(account.url, tmp_path)
    assert done.exit_code == 0
    assert "continuing: 1 answers are known" in done.stderr
    assert state.exists() is False


@pytest.mark.slow
def test_a_useless_account_number_is_reported(tmp_path: Path) -> None:
    with answering({"/v2/catalog": catalog(product("P"))}) as account:
        done = run_import(account.url, tmp_path, "--account", "P=1", "--account", "Q=2")
    assert done.exit_code == 0
    assert "--account P: no options of this product depend on an account number alone" in done.stderr
    assert "--account Q: the catalog has no such product" in done.stderr


@pytest.mark.slow
def test_an_interrupt_leaves_the_collected_state_and_prints_nothing_else(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with answering({"/v2/catalog": catalog(product("P"))}) as account:
        assert run_import(account.url, tmp_path, "--requests", "3").exit_code == 3
        known = state.read_text()
        flags = ("--base-url", account.url, "--state", str(state), "--per-second", "0.1")
        process = subprocess.Popen(
            [*PROGRAM, "import", *flags],
            env=environment(RESELLER_SIM_KEY=KEY, RESELLER_SIM_SECRET=SECRET),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            assert process.stderr is not None
            assert process.stderr.readline() == "reseller-sim import: continuing: 2 answers are known\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (130, "")
    assert err.strip() in ("", "reseller-sim import: 1 of 1 products"), "depending on when it came"
    assert state.read_text() == known
    assert state.stat().st_mode & 0o077 == 0


def test_inactive_options_without_a_text_as_code_are_kept(tmp_path: Path) -> None:
    source = {"type": "reference", "endpoint": "/options", "params": {}}
    odd = product("P", fields=[field("f", type="select", data_source=source)])

    class Canned:
        """Answers with the active option 1, and in the list of all options with the inactive options 2 and 3, too."""

        missing: list[str] = []

        def ask(self, target: str, *, is_stored: bool = True) -> Any:
            if target.startswith("/v2/options"):
                return {"items": [{"code": code} for code in ([1] if "is_active=true" in target else [1, 2, [3]])]}
            return catalog(odd) if target.startswith("/v2/catalog") else {}

    canned: Any = Canned()
    state = AnswerFile(tmp_path / "state", "", str)
    account = read_account(canned, state, {}, print)
    assert account.products[0].offers["f"][0].inactive == [{"code": 2}, {"code": [3]}]
