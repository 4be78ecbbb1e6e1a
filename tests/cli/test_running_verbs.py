"""The verbs that ask a running simulator: what they do, and what they print to programs and to people."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.answers_by_path import answering_by_path, sends
from tests.support.asking import Asking
from tests.support.processes import ask, free_port, run, serving
from tests.support.runner import invoke, refusal

HOSTILE = "r\x1b[31m\u202e-1"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if people read what is printed, on a wide terminal without colours."""
    monkeypatch.setattr("simulator.cli.output.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")


def shown(asking: Asking, *arguments: str, status: int = 0) -> str:
    done = asking.verb(*arguments)
    assert (done.exit_code, done.stderr) == (status, ""), done.output
    return done.stdout


def test_a_clock_advances_by_a_duration_to_a_time_and_until_nothing_is_due(asking: Asking) -> None:
    asking.pay("order-1")
    first = asking.json("advance", "2s")
    assert [one["kind"] for one in first["fired"]] == ["status", "callback"]
    assert not first["idle"]
    last = asking.json("advance", "idle")
    assert last["fired"][-1]["status"] == "Succesful"
    assert last["idle"]
    assert asking.json("advance", "to", "2099-01-10T23:59:00+08:00")["now"].startswith("2099-01-10T15:59:00")
    assert asking.json("advance", "1.5")["now"].startswith("2099-01-10T15:59:01.5")


def test_an_advance_into_the_past_is_refused_in_a_line(asking: Asking) -> None:
    assert "advance: 2001-01-10T23:59:00+08:00 is in the past" in refusal(
        asking.verb("advance", "to", "2001-01-10T23:59:00+08:00"), 1
    )


@pytest.mark.parametrize("reason", [None, "it took too long"])
def test_an_advance_that_stopped_before_its_end_exits_with_1(
    asking: Asking, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/_sim/sandboxes/{asking.sandbox}/clock/advance"
    done = ask(f"{asking.url}{path}", "POST", b'{"seconds": 1}').json | ({"reason": reason} if reason else {})
    with answering_by_path({path: sends(json.dumps(done).encode())}) as url:
        stopped = Asking(url, asking.sandbox)
        assert stopped.json("advance", "1s", status=1 if reason else 0) == done
        monkeypatch.setattr("simulator.cli.output.is_terminal", lambda: True)
        last = shown(stopped, "advance", "1s", status=1 if reason else 0).splitlines()[-1]
    assert (last == f"The advance stopped here: {reason}") == bool(reason)


@pytest.mark.usefixtures("terminal")
def test_an_advance_shows_people_what_happened(asking: Asking) -> None:
    asking.pay("order-1")
    lines = shown(asking, "advance", "idle").splitlines()
    assert re.sub(r"at \S+ \S+ ", "at ", lines[0]).split() == ["at", "what", "refid", "status", "to", "answered"]
    assert re.fullmatch(r"[\d:]{8}\.\d{3} +status +order-1 +Processing 2", lines[1])
    assert re.fullmatch(r"[\d:]{8}\.\d{3} +callback +order-1 +Succesful +inbox:callbacks +200", lines[4])
    assert re.fullmatch(r"It is \S+ \S+ \+08:00; nothing more is due\.", lines[-1])
    assert re.fullmatch(r"It is \S+ \S+ \+08:00; nothing more is due\.\n", shown(asking, "advance", "1s"))
    asking.pay("order-2")
    assert re.fullmatch(r"It is \S+ \S+ \+08:00; more is due later\.\n", shown(asking, "advance", "1s"))


@pytest.mark.usefixtures("terminal")
def test_an_advance_shows_a_callback_without_an_answer(asking: Asking) -> None:
    asking.verb("inbox", "--reply", "disconnect")
    asking.pay("order-1")
    assert re.search(r" callback +order-1 +Processing +inbox:callbacks +no answer\n", shown(asking, "advance", "2s"))


def test_a_request_is_sent_once_more_and_what_came_of_it_is_printed(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("advance", "idle")
    again = asking.json("requests", "1", "--replay")
    assert (again["n"], again["replay_of"], again["status"]) == (2, 1, 200)
    assert "Succesful" in again["response"]["body"]
    assert asking.json("requests", "--path", "/v2/topup", "--replay")["replay_of"] == 2


def test_a_request_that_was_sent_once_more_says_so_to_people(asking: Asking, terminal: None) -> None:
    asking.pay("order-1")
    assert "replay of 1" in shown(asking, "requests", "1", "--replay").splitlines()
    assert "replay of" not in shown(asking, "requests", "1")


def test_a_request_that_cannot_be_sent_again_is_refused_in_a_line(asking: Asking) -> None:
    assert "the journal has no such request" in refusal(asking.verb("requests", "9", "--replay"), 1)
    assert "has received no such request" in refusal(asking.verb("requests", "--replay"), 1)


def test_requests_are_filtered_and_the_latest_come_first_in_json(asking: Asking) -> None:
    for refid, account in (("order-1", "0123456789"), ("order-2", "0123456789"), ("order-3", "1")):
        asking.pay(refid, account)
    asking.verb("call", "GET", "/v2/balance")
    assert [one["n"] for one in asking.json("requests")["requests"]] == [4, 3, 2, 1]
    assert [one["n"] for one in asking.json("requests", "--limit", "2")["requests"]] == [4, 3]
    assert [one["n"] for one in asking.json("requests", "--refused")["requests"]] == [3]
    assert [one["n"] for one in asking.json("requests", "--refid", "order-2")["requests"]] == [2]
    assert [one["n"] for one in asking.json("requests", "--path", "/v2/balance")["requests"]] == [4]
    assert [one["n"] for one in asking.json("requests", "--method", "POST", "--status", "200")["requests"]] == [2, 1]
    assert [one["refid"] for one in asking.json("requests", "--rule", "ordinary")["requests"]] == ["order-2", "order-1"]


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("2xx", [3, 1]),
        ("4XX", [2]),
        ("400-499", [2]),
        (">=400", [2]),
        (">200", [2]),
        ("<400", [3, 1]),
        ("!200", [2]),
        ("200", [3, 1]),
        ("0", []),
    ],
)
def test_several_statuses_are_written_as_people_write_them(asking: Asking, status: str, found: list[int]) -> None:
    asking.pay("order-1")
    asking.pay("order-2", "1")
    asking.verb("call", "GET", "/v2/balance")
    assert [one["n"] for one in asking.json("requests", "--status", status)["requests"]] == found


@pytest.mark.usefixtures("terminal")
def test_a_list_of_no_requests_says_so(asking: Asking) -> None:
    assert shown(asking, "requests") == f"the sandbox {asking.sandbox} has received no request\n"
    assert shown(asking, "requests", "--refused") == f"the sandbox {asking.sandbox} has received no such request\n"


def test_one_request_is_printed_whole(asking: Asking) -> None:
    asking.pay("order-1", "1")
    asking.verb("call", "GET", "/v2/balance")
    assert asking.json("requests", "1")["request"]["body"].startswith('{"refid": "order-1"')
    assert asking.json("requests", "--last")["n"] == 2
    assert asking.json("requests", "--last", "--refused")["n"] == 1
    assert "no such request" in refusal(asking.verb("requests", "99"), 1)
    assert "has received no such request" in refusal(asking.verb("requests", "--last", "--method", "PUT"), 1)


@pytest.mark.usefixtures("terminal")
def test_requests_are_a_table_for_people_with_the_diagnosis(asking: Asking) -> None:
    asking.pay("order-1")
    asking.pay("order-2", "1")
    head, first, second = shown(asking, "requests").splitlines()
    assert re.fullmatch(r"n +at \d{4}-\d\d-\d\d \+08:00 +method +path +status +refid +rule +diagnosis", head)
    assert re.fullmatch(r"1 +[\d:]{8}\.\d{3} +POST +/v2/topup +200 +order-1 +ordinary", first)
    assert re.fullmatch(r"2 +[\d:]{8}\.\d{3} +POST +/v2/topup +400 +(order-2 +)?account must match .*", second)
    whole = shown(asking, "requests", "2")
    assert "\nPOST /v2/topup\n" in whole
    assert "\nx-api-key: " in whole
    assert "\nerror: Invalid_Account\n" in whole
    assert "\n400\n" in whole


def test_a_story_is_found_by_refid_and_by_trxid(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("advance", "idle")
    story = asking.json("story", "order-1")
    assert [one["status"] for one in story["statuses"]] == ["Accepted", "Processing", "Succesful"]
    assert asking.json("story", story["trxid"]) == story
    assert asking.json("story", "order-1", "--reseller", "RS001") == story
    for absent in ("order-9", "12345"):
        assert "no" in refusal(asking.verb("story", absent), 1)


def test_a_story_of_a_refused_payment_says_which_request_was_refused_and_why(asking: Asking) -> None:
    asking.pay("order-3", "12")
    at = f"/_sim/sandboxes/{asking.sandbox}"
    journal = ask(f"{asking.url}{at}/requests").json
    journal["requests"][0] |= {"n": 3, "refid": "order-3"}
    why = journal["requests"][0]["diagnosis"]
    payments = ask(f"{asking.url}{at}/transactions").body
    answers = {f"{at}/transactions": sends(payments), f"{at}/requests": sends(json.dumps(journal).encode())}
    with answering_by_path(answers) as url:
        for verb in (("story", "order-3"), ("trigger", "callback", "order-3"), ("story", "17")):
            line = refusal(Asking(url, asking.sandbox).verb(*verb), 1)
            assert line.endswith(f": no payment was made; request 3 with this refid was refused: {why}")


@pytest.mark.usefixtures("terminal")
def test_a_request_without_an_answer_says_so_and_names_rule_and_fault(asking: Asking) -> None:
    asking.verb("rule", "add", "faults", "--path", "/v2/topup", "--disconnect", "--after-commit", "--name", "cut")
    asking.pay("order-1")
    asking.verb("call", "GET", "/v2/balance")
    for flags in ((), ("--refused",)):
        _, first, *others = shown(asking, "requests", *flags).splitlines()
        assert re.fullmatch(r"1 .* POST +/v2/topup +no answer +order-1 +rule ordinary, fault cut.*", first)
        assert len(others) == (0 if flags else 1)
    assert [one["status"] for one in asking.json("requests", "--refused")["requests"]] == [0]
    for flag, name in (("--rule", "ordinary"), ("--fault", "cut")):
        assert [one["refid"] for one in asking.json("requests", flag, name)["requests"]] == ["order-1"]


@pytest.mark.usefixtures("terminal")
def test_a_story_lists_everything_in_the_order_of_time(asking: Asking) -> None:
    asking.pay("order-1", "0120000001")
    asking.json("advance", "idle")
    told = [line[33:] for line in shown(asking, "story", "order-1").splitlines()[2:]]
    assert told == [
        "#1 POST /v2/topup → 200, rule magic-01",
        "status Accepted (1) by creation",
        "wallet -9.75 MYR (TRANSACTION), balance 4990.25 MYR: Mobile Reload 0120000001",
        "status Processing (2) by step",
        "callback Processing to inbox:callbacks, attempt 1: answered 200",
        "status Failed (48) by step, remarks HC",
        "wallet +9.75 MYR (REFUND), balance 5000.00 MYR: refund of order-1",
        "callback Failed to inbox:callbacks, attempt 1: answered 200",
    ]


@pytest.mark.usefixtures("terminal")
def test_content_of_clients_never_controls_the_terminal(asking: Asking) -> None:
    asking.pay(HOSTILE)
    asking.verb("requests")
    ask(f"{asking.url}/_sim/inbox/{asking.sandbox}/callbacks", "POST", HOSTILE.encode())
    printed = [shown(asking, *verb) for verb in (("requests", "1"), ("requests", "--last"), ("inbox",))]
    assert "\\u202e-1" in printed[0]
    assert r"r\x1b[31m\u202e-1" in printed[2]
    assert re.search("[\x1b\u202e]", "".join(printed)) is None


def test_an_inbox_is_read_programmed_waited_for_and_cleared(asking: Asking) -> None:
    assert asking.json("inbox", "callbacks", "--reply", "500,200") == {
        "name": "callbacks",
        "complete": True,
        "items": [],
    }
    asking.pay("order-1")
    asking.json("advance", "2s")
    assert [one["status"] for one in asking.json("inbox")["items"]] == [500]
    late = asking.verb("inbox", "callbacks", "--wait-for", "2", "--timeout", "0", "--json")
    assert (late.exit_code, late.stderr) == (1, "reseller-sim inbox: callbacks: 1 of 2 came in time\n")
    assert not json.loads(late.stdout)["complete"]
    asking.json("advance", "idle")
    found = asking.json("inbox", "--wait-for", "3", "--timeout", "0")
    assert [one["status"] for one in found["items"]] == [500, 200, 200]
    assert asking.json("inbox", "--clear")["items"] == []
    assert asking.json("inbox")["items"] == []
    assert asking.json("inbox", "--reply", "200:0.5,disconnect")["complete"]


@pytest.mark.usefixtures("terminal")
def test_an_inbox_shows_the_payment_and_the_status_of_a_callback(asking: Asking) -> None:
    assert shown(asking, "inbox") == "callbacks: nothing yet\n"
    assert shown(asking, "inbox", "cb") == "cb: nothing yet; no callback uses it: they go to inbox:callbacks\n"
    assert refusal(asking.verb("inbox", "inbox:callbacks"), 1).endswith("a letter or digit; leave out inbox:")
    asking.pay("order-1")
    asking.json("advance", "2s")
    head, first = shown(asking, "inbox").splitlines()
    assert re.fullmatch(r"n +at \d{4}-\d\d-\d\d \+08:00 +method +answered +refid +status +body", head)
    assert re.fullmatch(r'1 .* POST +200 +order-1 +Processing +\{"data".*', first)
    late = asking.verb("inbox", "--wait-for", "2", "--timeout", "0")
    assert (late.exit_code, late.stderr) == (1, "reseller-sim inbox: callbacks: 1 of 2 came in time\n")
    assert "it answers 500, 200; the last reply repeats" in shown(asking, "inbox", "--reply", "500,200")
    assert shown(asking, "inbox", "--clear") == "callbacks: its messages are deleted\n"


@pytest.mark.usefixtures("terminal")
def test_a_deposit_is_in_the_wallet(asking: Asking) -> None:
    assert shown(asking, "deposit", "19.90") == "RS001: 19.90 MYR added, balance 5019.90 MYR\n"
    entry = asking.json("deposit", "500", "--reseller", "RS001", "--description", "bank transfer")
    assert (entry["type"], entry["balance"], entry["remarks"]) == ("DEPOSIT", 5519.9, "bank transfer")
    assert "NOBODY" in refusal(asking.verb("deposit", "5", "--reseller", "NOBODY"), 1)


def test_a_triggered_callback_is_sent_at_once_even_though_the_clock_stands(asking: Asking) -> None:
    asking.pay("order-1")
    assert "a callback reports a later status" in refusal(asking.verb("trigger", "callback", "order-1"), 1)
    asking.json("advance", "2s")
    sent = asking.json("trigger", "callback", "order-1")
    assert (sent["payment_status"], sent["state"], sent["copy"]) == ("Processing", "delivered", 1)
    assert len(asking.json("inbox")["items"]) == 2
    line = refusal(asking.verb("trigger", "callback", "order-9"), 1)
    assert line.endswith("has no payment 'order-9': see `reseller-sim requests` and `reseller-sim hold list`")


def test_triggered_webhooks_reach_their_receivers_or_say_why_not(simulator_url: str, tmp_path: Path) -> None:
    file = tmp_path / "hooked.yaml"
    file.write_text("extends: default\nwebhooks: {catalog: {url: 'inbox:catalog'}}\n")
    asking = Asking.of_new_sandbox(simulator_url, str(file))
    assert "no balance webhook" in refusal(asking.verb("trigger", "balance.added"), 1)
    balances = [one["balance"] for one in ask(f"{simulator_url}/_sim/sandboxes/{asking.sandbox}").json["resellers"]]
    assert balances == [5000]  # what is refused has changed nothing
    assert "no reseller 'NOBODY'" in refusal(asking.verb("trigger", "balance.added", "--reseller", "NOBODY"), 1)
    asking.verb("call", "PUT", "/v2/balance-webhook", "-d", '{"url": "inbox:hooks"}')
    sent = asking.json("trigger", "balance.added", "--amount", "250")
    assert (sent["type"], sent["state"], sent["event"]["data"]["amount"]) == ("balance.added", "success", 250)
    for _ in range(2):
        assert asking.json("trigger", "product.updated", "RELOAD")["attempts"][0]["status"] == 200
    assert len(asking.json("inbox", "catalog")["items"]) == 2
    assert "'NONE'" in refusal(asking.verb("trigger", "product.updated", "NONE"), 1)


def test_probes_list_what_a_receiver_accepted(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("advance", "10s")
    believed = asking.json("trigger", "probes", status=1)
    assert believed["findings"] > 0


def test_probes_that_find_nothing_end_with_0(asking: Asking) -> None:
    asking.verb("inbox", "--reply", "404")
    verdicts = [one["verdict"] for one in asking.json("trigger", "probes", "--reseller", "RS001")["probes"]]
    assert set(verdicts) == {"skipped"}  # there is neither a payment nor a webhook that a message could be about


@pytest.mark.usefixtures("terminal")
def test_people_read_a_line_for_each_probe(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("advance", "10s")
    assert re.search(r"^callback-unknown-refid +finding ", shown(asking, "trigger", "probes", status=1), re.MULTILINE)


@pytest.mark.usefixtures("terminal")
def test_a_probe_without_a_verdict_has_the_end_of_its_request(asking: Asking) -> None:
    asking.verb("inbox", "--reply", "500")
    asking.pay("order-1")
    asking.json("advance", "10s")
    found = shown(asking, "trigger", "probes", status=1)
    assert re.search(r"^callback-unknown-refid +inconclusive +answered 500: a payment that you", found, re.MULTILINE)


def test_the_clock_is_shown_and_its_mode_set(asking: Asking) -> None:
    assert asking.json("clock")["mode"] == "manual"
    assert (asking.json("clock", "x60")["rate"], asking.json("clock", "x60")["mode"]) == (60, "xN")
    assert asking.json("clock", "real")["mode"] == "real"
    assert asking.json("clock", "manual") == asking.json("clock")
    assert "not being advanced" in refusal(asking.verb("clock", "stop"), 1)
    line = refusal(asking.verb("clock", "soon"), 2)
    assert "clock 'soon' is not one of real, manual, x60 (any number)" in line


@pytest.mark.usefixtures("terminal")
def test_people_read_the_clock_and_what_is_due_in_a_line(asking: Asking) -> None:
    assert re.fullmatch(r"manual: it is \S+ \S+ \+08:00\n", shown(asking, "clock"))
    asking.pay("order-1")
    assert re.fullmatch(r"x2: it is .* \+08:00, the next of [0-9]+ is due at .*\n", shown(asking, "clock", "x2"))


def test_a_network_is_interrupted_and_restored(asking: Asking) -> None:
    assert asking.json("network", "RELOAD", "off") == {"product": "RELOAD", "status": "Interruption"}
    assert asking.json("network", "RELOAD", "on") == {"product": "RELOAD", "status": "Healthy"}
    assert asking.json("network", "RELOAD") == {"product": "RELOAD", "status": "Healthy"}
    assert {"product": "RELOAD", "status": "Healthy"} in asking.json("network")["products"]
    assert "NONE" in refusal(asking.verb("network", "NONE", "on"), 1)
    assert "no product 'RELAOD'" in refusal(asking.verb("network", "RELAOD"), 1)
    assert "'broken'" in refusal(asking.verb("network", "RELOAD", "broken"), 2)


def test_a_product_is_taken_off_sale_and_changed(asking: Asking) -> None:
    assert asking.json("product", "RELOAD", "off")["changed"] == ["is_active"]
    assert asking.json("product", "RELOAD", "on", "--reseller", "RS001")["product"]["code"] == "RELOAD"
    price = "{price_adjustment: {type: percentage, value: 2}}"
    assert asking.json("product", "RELOAD", price)["changed"] == ["price_adjustment"]
    assert "nobody" in refusal(asking.verb("product", "RELOAD", "on", "--reseller", "nobody"), 1)
    assert "NONE" in refusal(asking.verb("product", "NONE", "on"), 1)
    assert "did you mean 'RELOAD'?" in refusal(asking.verb("product", "RELAOD", "on"), 1)
    assert "colour" in refusal(asking.verb("product", "RELOAD", "{colour: red}"), 1)
    assert "neither on nor off" in refusal(asking.verb("product", "RELOAD", "maybe"), 2)
    assert "neither on nor off" in refusal(asking.verb("product", "RELOAD", "{}"), 2)
    assert refusal(asking.verb("product", "RELOAD", "{note: ["), 1)


@pytest.mark.usefixtures("terminal")
def test_people_read_what_is_different_of_a_product(asking: Asking) -> None:
    assert shown(asking, "product", "RELOAD", "off") == "RELOAD: is_active true -> false\n"
    assert shown(asking, "product", "RELOAD", "off") == "RELOAD: nothing is different\n"
    assert shown(asking, "product", "RELOAD", "{note: new}").endswith(' -> "new"\n')


@pytest.mark.usefixtures("terminal")
def test_the_own_settings_of_a_reseller_are_shown_and_can_be_removed(asking: Asking) -> None:
    of_one = ("--reseller", "RS001")
    said = shown(asking, "product", "RELOAD", "on", *of_one)
    assert said == "RELOAD: nothing is different for RS001; its own: is_active true\n"
    assert shown(asking, "product", "RELOAD", "off") == "RELOAD: is_active true -> false; RS001 keeps its own\n"
    said = shown(asking, "product", "RELOAD", "default", *of_one)
    assert said == "RELOAD: is_active true -> false for RS001; it has what all resellers have\n"
    assert shown(asking, "product", "RELOAD", "on") == "RELOAD: is_active false -> true\n"
    assert "add --reseller CODE" in refusal(asking.verb("product", "RELOAD", "default"), 2)


@pytest.mark.usefixtures("terminal")
def test_networks_are_shown_without_being_changed(asking: Asking) -> None:
    before, healthy = shown(asking, "network").splitlines()
    assert before == "FP: Interruption"
    assert re.fullmatch(r"[0-9]+ products: Healthy", healthy)
    assert shown(asking, "network", "RELOAD", "off") == "RELOAD: Interruption\n"
    assert shown(asking, "network", "RELOAD") == "RELOAD: Interruption\n"
    *broken, rest = shown(asking, "network").splitlines()
    assert sorted(broken) == ["FP: Interruption", "RELOAD: Interruption"]
    assert int(rest.split()[0]) == int(healthy.split()[0]) - 1


def note_of(asking: Asking, code: str) -> str:
    rows = ask(f"{asking.url}/_sim/sandboxes/{asking.sandbox}/catalog?limit=1000").json["products"]
    return next(json.dumps(one["product"]) for one in rows if one["code"] == code)


def test_a_product_change_without_any_notification_is_refused(asking: Asking) -> None:
    before = note_of(asking, "RELOAD")
    assert "to report it" in refusal(asking.verb("trigger", "product.updated", "RELOAD"), 1)
    assert note_of(asking, "RELOAD") == before


@pytest.mark.usefixtures("terminal")
def test_people_read_what_the_receiver_answered(asking: Asking) -> None:
    asking.pay("order-1")
    asking.json("advance", "2s")
    asking.verb("inbox", "--reply", "503")
    assert shown(asking, "trigger", "callback", "order-1") == "callback to inbox:callbacks: answered 503\n"


def test_rules_are_added_by_flags_text_file_and_stdin_and_removed(asking: Asking, tmp_path: Path) -> None:
    file = tmp_path / "fault.yaml"
    file.write_text("when: {path: /v2/balance}\ntimes: 1\nthen: {status: 503}\n")
    flags = ("--account", "0123456789", "--status", "Failed", "--after", "5s", "--name", "declined", "--times", "1")
    piped = ("rule", "add", "voids", "-f", "-", "--json")
    made = [
        asking.json("rule", "add", "payments", *flags)["id"],
        asking.json("rule", "add", "payments", '{when: {account: {suffix: "48"}}, then: [{status: Failed}]}')["id"],
        asking.json("rule", "add", "faults", "-f", str(file))["id"],
        json.loads(asking.verb(*piped, body=b"then: {status: Failed}").stdout)["id"],
        asking.json("rule", "add", "faults", "--path", "/v2/topup", "--status", "504", "--after", "1s")["id"],
        asking.json("rule", "add", "faults", "--path", "/v2/topup", "--after-commit", "--disconnect")["id"],
    ]
    listed = {one["id"]: one for one in asking.json("rule", "list")["rules"]}
    assert set(made) <= set(listed)
    assert listed[made[0]]["name"] == "declined"
    assert asking.verb("rule", "rm", *made[1:]).output == ""
    asking.pay("order-1")
    asking.json("advance", "idle")
    statuses = [one["status"] for one in asking.json("story", "order-1")["statuses"]]
    assert statuses == ["Processing", "Failed"]
    chosen = {one["id"]: one["chosen"] for one in asking.json("rule", "list")["rules"]}
    assert chosen[made[0]] == 1
    assert "no rule" in refusal(asking.verb("rule", "rm", made[1]), 1)


def test_a_rule_that_cannot_be_used_says_why(asking: Asking) -> None:
    wrong = asking.verb("rule", "add", "payments", "{whn: 1, then: [{status: Failed}]}")
    assert "did you mean 'when'?" in refusal(wrong, 1)
    assert "is a mapping" in refusal(asking.verb("rule", "add", "payments", "[1]"), 1)
    assert "rule:1:" in refusal(asking.verb("rule", "add", "payments", "{a: 1"), 1)


@pytest.mark.usefixtures("terminal")
def test_rules_are_a_table_for_people(asking: Asking) -> None:
    assert "is now the first rule of payments" in shown(asking, "rule", "add", "payments", "--status", "Failed")
    head, added, ordinary, *_ = shown(asking, "rule", "list").splitlines()
    assert head.split() == ["section", "id", "fallback", "matched", "chosen", "name"]
    assert added.split() == ["payments", "added-1", "0", "0"]
    shown(asking, "rule", "add", "faults", "--path", "/v2/balance", "--status", "503")
    assert shown(asking, "rule", "rm", "added-1", "added-2") == ""
    assert ordinary.split() == ["payments", "payments-1", "yes", "0", "0", "ordinary"]


def test_sandboxes_are_made_listed_and_removed(simulator_url: str, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("extends: default\nseed: 7\n")
    (tmp_path / "mine.yaml").write_text("extends: base.yaml\nscenario: of two files\n")
    at = ("--url", simulator_url)
    flags = ("--id", "mine", "--clock", "x60", "--start", "2027-01-10T23:59:00+08:00", "--unique")
    made = json.loads(invoke("sandbox", "new", str(tmp_path / "mine.yaml"), *flags, *at, "--json").stdout)
    assert (made["id"], made["scenario"], made["seed"]) == ("mine", "of two files", 7)
    assert (made["clock"]["mode"], made["clock"]["rate"]) == ("xN", 60)
    assert made["clock"]["now"].startswith("2027-01-10T15:59")
    assert made["resellers"][0]["api_key"] != "test_key_RS001"
    assert "mine" in refusal(invoke("sandbox", "new", "--id", "mine", *at), 1)
    named = json.loads(invoke("sandbox", "new", "bad-day", "--seed", "5", "--no-audit", "--json", *at).stdout)
    assert (named["scenario"], named["seed"], named["audit"], made["audit"]) == ("bad-day", 5, False, True)
    listed = [one["id"] for one in json.loads(invoke("sandbox", "list", "--json", *at).stdout)["sandboxes"]]
    assert {"default", "mine", named["id"]} <= set(listed)
    assert invoke("sandbox", "rm", "mine", named["id"], *at).output == ""
    assert "no sandbox" in refusal(invoke("sandbox", "rm", "mine", *at), 3)
    assert "always exists" in refusal(invoke("sandbox", "rm", "default", *at), 1)
    assert "no such" in refusal(invoke("requests", "--sandbox", "mine", *at), 3).replace("there is no", "no such")


def test_a_file_that_is_no_scenario_is_reported_as_check_does(simulator_url: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("extends: default\npaymnts: []\nseed: many\n")
    done = invoke("sandbox", "new", str(bad), "--url", simulator_url)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0].startswith(f"{bad}:2:1: unknown_key ")
    wrong = refusal(invoke("sandbox", "new", "bad-dya", "--url", simulator_url), 1)
    assert "'bad-dya'" in wrong
    assert "(did you mean 'bad-day'?)" in wrong


def test_exported_variables_make_all_verbs_use_the_sandbox(simulator_url: str) -> None:
    done = invoke("sandbox", "new", "--clock", "manual", "--export", "--url", simulator_url)
    pairs = [line.removeprefix("export ").partition("=") for line in done.stdout.splitlines()]
    variables: dict[str, Any] = {name: value for name, _, value in pairs}
    sandbox = variables["RESELLER_SIM_SANDBOX"]
    assert variables["RESELLER_BASE_URL"] == f"{simulator_url}/s/{sandbox}"
    called = invoke("call", "GET", "/v2/balance", **variables)
    assert f"x-sim-sandbox: {sandbox}\n" in called.stderr
    assert len(json.loads(invoke("requests", "--json", **variables).stdout)["requests"]) == 1
    assert f"/s/{sandbox}/v2/balance" in invoke("sign", "GET", "/v2/balance", **variables).stdout


@pytest.mark.usefixtures("terminal")
def test_a_new_sandbox_prints_how_to_use_it(simulator_url: str) -> None:
    made = invoke("sandbox", "new", "--id", "for-people", "--url", simulator_url).stdout
    assert "reseller-sim call --sandbox for-people GET /v2/balance\n" in made
    listed = invoke("sandbox", "list", "--url", simulator_url).stdout.splitlines()
    assert listed[0].split() == ["id", "scenario", "clock", "time", "balance", "url"]
    assert any(re.match(r"for-people +default +real .* 5000\.00 ", line) for line in listed)


@pytest.mark.usefixtures("terminal")
def test_health_names_the_simulator_that_answers(simulator_url: str) -> None:
    assert invoke("health", "--url", f"{simulator_url}/_sim/").stdout.endswith(f" answers at {simulator_url}\n")
    assert json.loads(invoke("health", "--json", "--url", simulator_url).stdout)["status"] == "ok"


@pytest.mark.usefixtures("terminal")
def test_an_audit_shows_people_violations_first_and_counts_what_was_not_exercised(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.cli.audit.is_terminal", lambda: True)
    nothing = asking.verb("audit")
    assert (nothing.exit_code, len(nothing.stdout.splitlines())) == (1, 1)
    text = f"nothing was judged: no request to the sandbox {asking.sandbox} reached an endpoint; does"
    assert text in nothing.stderr
    asking.verb("call", "GET", "/v9/balance")
    lost = asking.verb("audit")
    assert (lost.exit_code, text in lost.stderr) == (1, True)
    asking.pay("order-1")
    for _ in range(2):
        asking.verb("call", "POST", "/v2/token", "-d", '{"username": "a", "password": "wrong"}')
    short = shown(asking, "audit", status=1).splitlines()
    whole = shown(asking, "audit", "--all", status=1).splitlines()
    marks = [line.split()[0] for line in short if line[:1].strip()]
    assert marks[0] == "VIOLATED"
    assert "ok" in marks[1:-1]
    assert "-" not in marks
    assert short[-1] == whole[-1]
    assert sum(line.startswith("- ") for line in whole) == int(short[-1].split()[4])
    monkeypatch.setattr("simulator.cli.audit.is_terminal", lambda: False)
    assert shown(asking, "audit", status=1).splitlines() == whole


@pytest.mark.parametrize("event", ["callback", "product.updated"])
def test_an_event_about_nothing_is_a_usage_error(asking: Asking, event: str) -> None:
    assert f"{event} needs the " in refusal(asking.verb("trigger", event, ""), 2)


EXPECTING = """extends: default
expect:
  - { name: paid, payments: { refid: order-1, status: Succesful } }
  - { name: never refused, calls: { status: { min: 400 } }, count: 0 }
"""


@pytest.fixture
def expecting(simulator_url: str, tmp_path: Path) -> Asking:
    (tmp_path / "mine.yaml").write_text(EXPECTING)
    return Asking.of_new_sandbox(simulator_url, str(tmp_path / "mine.yaml"))


def test_expectations_are_judged_as_things_stand(expecting: Asking) -> None:
    before = expecting.json("expectations", status=1)
    assert [one["ok"] for one in before["expectations"]] == [False, True]
    expecting.pay("order-1")
    expecting.json("advance", "idle")
    assert expecting.json("expectations")["ok"]


@pytest.mark.usefixtures("terminal")
def test_people_read_which_expectation_is_not_met_and_what_came_nearest(expecting: Asking, asking: Asking) -> None:
    expecting.pay("order-1")
    assert shown(expecting, "expectations", status=1).splitlines() == [
        "NOT MET   paid: expected at least 1, got 0",
        "          nearest: 1 payment with status Accepted",
        "          pending: payment order-1 is Accepted, next step in 2 s",
        "ok        never refused: expected 0, got 0",
        "1 of 2 met",
    ]
    assert shown(asking, "expectations") == "the scenario expects nothing\n"


@pytest.mark.usefixtures("terminal")
def test_an_advance_shows_people_what_the_scenario_scheduled(simulator_url: str, tmp_path: Path) -> None:
    file = tmp_path / "day.yaml"
    file.write_text(
        "extends: default\nschedule:\n"
        "  - { at: 1s, network: { product: ELECTRIC, status: Interruption } }\n"
        "  - { at: 2s, rule: { add: { payments: { name: down, then: { refuse: Invalid_Account } } } } }\n"
        "  - { at: 3s, rule: { remove: down } }\n"
        "  - { at: 4s, deposit: { reseller: RS001, amount: '7.50' } }\n"
        "  - { at: 5s, settings: { reseller: RS001, low_balance_threshold: '9.00',"
        " callback: { url: 'inbox:other' } } }\n"
        "  - { at: 6s, api_key: { reseller: RS001, key: test_key_RS001, state: revoked } }\n"
        "  - { at: 7s, product: { code: GAME, set: { is_active: false } } }\n"
    )
    asking = Asking.of_new_sandbox(simulator_url, str(file))
    asking.json("advance", "2s")
    asking.verb("rule", "rm", "added-1")
    lines = [line[14:].split(None, 1) for line in shown(asking, "advance", "idle").splitlines()[1:-2]]
    assert [" ".join(cell.split()) for _, cell in lines] == [
        "down there is no rule 'down'",
        "7.50 MYR",
        "callback, low_balance_threshold",
        "test_key_RS001 revoked",
        "GAME",
    ]
    assert [kind for kind, _ in lines] == ["rule_removed", "deposit", "settings", "api_key", "product"]


def test_a_sandbox_begins_from_a_file_of_the_servers_folder(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text("extends: default\nresellers: [{ code: RS001, balance: '20.00' }]\n")
    with serving("--scenarios", str(tmp_path), "--port", "0", "--json") as server:
        url = server.ready["url"]
        made = json.loads(invoke("sandbox", "new", "--server-file", "shop.yaml", "--url", url, "--json").stdout)
        assert made["resellers"][0]["balance"] == 20
        absent = refusal(invoke("sandbox", "new", "--server-file", "shopp.yaml", "--url", url), 1)
    assert "did you mean 'shop.yaml'?" in absent


def test_a_call_prints_all_headers_when_asked_to(asking: Asking) -> None:
    asking.verb(
        "rule", "add", "faults", "{when: {path: /v2/balance}, then: {status: 429, headers: {Retry-After: '5'}}}"
    )
    assert "retry-after" not in asking.verb("call", "GET", "/v2/balance").stderr
    assert "\nretry-after: 5\n" in asking.verb("call", "-i", "GET", "/v2/balance").stderr


def test_health_waits_until_a_simulator_answers() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(run, "health", "--wait", "60", "--url", url)
        assert run("health", "--url", url).status == 3
        with serving("--port", str(port), "--json"):
            assert waiting.result().status == 0
    assert run("health", "--wait", "0.1", "--url", url).status == 3


@pytest.mark.parametrize("path", ["/v2/balance", "/v2/nowhere"])
def test_a_call_is_one_object_when_the_flag_or_the_variable_says_so(asking: Asking, path: str) -> None:
    refused = int(path.endswith("nowhere"))
    shown = asking.json("call", "GET", path, status=refused)
    assert (shown["status"], shown["headers"]["x-sim-sandbox"]) == (404 if refused else 200, asking.sandbox)
    assert shown["body"] == json.loads(asking.verb("call", "GET", path).stdout)
    done = asking.verb("call", "GET", path, RESELLER_SIM_OUTPUT="json")
    assert (json.loads(done.stdout)["status"], done.stderr) == (shown["status"], "")
