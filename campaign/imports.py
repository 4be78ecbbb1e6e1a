"""A large account is imported from one server and served by another: each answer about its catalog is the same."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from bench.servers import ROOT
from campaign.outcome import Outcome
from campaign.subject import Subject, subject

PRODUCTS, BILLERS = 500, 25_000
FIRST_BILLER = 200_001
_LAST_UPDATED = re.compile(rb'"last_updated":"[^"]*"')  # the only member that is the sandbox's own
_NEWER = (b" HTTP/1.1\r\n", b" HTTP/1.1\r\nX-API-Version: 2026-09-16\r\n")


def imports(scale: float) -> list[Outcome]:
    """One import."""
    return [asyncio.run(_import(max(3, int(PRODUCTS * scale)), max(10, int(BILLERS * scale))))]


async def _import(products: int, billers: int) -> Outcome:
    outcome = Outcome("import", f"{products} products and {billers} billers are served byte for byte")
    with tempfile.TemporaryDirectory() as folder:
        theirs, mine = Path(folder) / "theirs.yaml", Path(folder) / "mine.yaml"
        theirs.write_text(yaml.safe_dump(_account(products, billers), sort_keys=False))
        with subject(scenario=theirs) as trial:
            wanted = await _answers(trial)
            started = time.perf_counter()
            done = _imported(trial, mine)
            outcome.figures.append(f"imported in {time.perf_counter() - started:.0f} s")
        outcome.expect(done.returncode == 0, done.stderr.decode()[-300:])
        if done.returncode == 0:
            started = time.perf_counter()
            with subject(scenario=mine) as trial:
                outcome.figures.append(
                    f"{mine.stat().st_size / 1e6:.1f} MB, up in {time.perf_counter() - started:.1f} s"
                )
                found = await _answers(trial)
                outcome.bounded = {"MB of memory": trial.memory_kb() // 1024}
                outcome.figures.append(f"{outcome.bounded['MB of memory']} MB of memory")
            outcome.tried = len(wanted)
            for target, body in wanted.items():
                outcome.expect(found.get(target) == body, f"{target} is answered otherwise")
    return outcome


def _imported(trial: Subject, mine: Path) -> "subprocess.CompletedProcess[bytes]":
    url, flags = f"http://{trial.server.netloc}", ["--per-second", "1000", "--state", str(mine.with_suffix(".state"))]
    credentials = {"RESELLER_SIM_KEY": trial.client.key, "RESELLER_SIM_SECRET": trial.client.secret}
    with mine.open("wb") as file:
        return subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "simulator", "import", "--base-url", url, *flags],
            cwd=ROOT,
            stdout=file,
            stderr=subprocess.PIPE,
            env=os.environ | credentials,
            check=False,
        )


async def _answers(trial: Subject) -> dict[str, bytes]:
    async with trial.connections(1) as (connection,):

        async def ask(path: str, query: str = "", *, newer: bool = True) -> bytes:
            raw = trial.client.request("GET", path, query)
            answer = await connection.ask(raw.replace(*_NEWER, 1) if newer else raw)
            return b"%d %b" % (answer.status, _LAST_UPDATED.sub(b"", answer.body))

        found = {"old catalog": await ask("/v2/catalog", newer=False), "billers": await ask("/v1/interbank/billers")}
        found["catalog"] = body = await ask("/v2/catalog", "include_inactive=true")
        for product in json.loads(body.partition(b" ")[2].replace(b"{,", b"{", 1))["products"].values():
            for path, query in _questions(product):
                found[f"{path}?{query}"] = await ask(path, query)
    return found


def _questions(product: dict[str, Any]) -> Iterator[tuple[str, str]]:
    code = product["code"]
    yield "/v2/networkstatus", urlencode({"product": code})
    yield "/v2/subproducts", urlencode({"product_code": code})
    for field in product["fields"]:
        if field["type"] == "select":
            for active in ("true", "false"):
                query = {"is_active": active, "field_id": field["id"], "limit": 25_000, "product_code": code}
                yield "/v2/options", urlencode(query)


def _account(products: int, billers: int) -> dict[str, Any]:
    """Return a scenario of many products; the last has the billers."""
    sold = [*map(_product, range(products - 1)), _bills(billers)]
    codes = [one["code"] for one in sold]
    categories = [{"id": "all", "name": "All", "product_codes": codes}]
    keys = [{"key": "campaign_key", "secret": "Y2FtcGFpZ24tc2VjcmV0"}]
    return {
        "resellers": [{"code": "R", "balance": 0, "api_keys": keys}],
        "catalog": {"groups": [{"id": "many", "name": "Many", "categories": categories}], "products": sold},
        "network": {codes[0]: "Interruption"},
    }


def _product(number: int) -> dict[str, Any]:
    """Return a product: a third of them sell any amount, the others up to twelve plans each."""
    discount = {"type": "percentage", "value": f"{number % 9}.50"}
    shared: dict[str, Any] = {
        "code": f"P{number}",
        "name": f"Product number {number}",
        "note": f"Note: {number}",
        "discount": discount,
    }
    shared |= {"processing_time": "instant", "is_active": number % 20 != 7}
    if number % 3 == 0:
        return shared | {"fields": [_field("amount", role="pricing", type="money", validation={"min": 1, "max": 500})]}
    plans = [
        {"code": f"P{number}.{plan}", "label": f"Plan {plan}", "denomination": plan, "is_active": plan % 5 != 4}
        for plan in range(1, 2 + number % 12)
    ]
    sub = {"extras": {"subproduct_code": {"from_field": "plan", "path": "code"}}}
    return shared | {"fields": [_field("plan", role="pricing", type="select", options=plans)], "fulfillment": sub}


def _bills(billers: int) -> dict[str, Any]:
    made = {"count": billers, "first": FIRST_BILLER, "min_amount": 1, "max_amount": 5000}
    fields = [_field("biller", type="select", generate=made | {"suggested_categories": ["A", "B: C"]})]
    return {
        "code": "BILLS",
        "name": "Bills",
        "processing_time": "3_days",
        "discount": {"type": "fixed", "value": "0.20"},
        "fields": [*fields, _field("amount", role="pricing", type="money")],
        "fulfillment": {"extras": {"biller_code": {"from_field": "biller", "path": "code"}}},
    }


def _field(name: str, **more: object) -> dict[str, Any]:
    return {"id": name, "label": name.title(), **more}
