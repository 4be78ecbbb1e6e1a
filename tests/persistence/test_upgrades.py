"""A folder that an earlier simulator wrote, before quotas existed, is resumed without a loss.

`former` has the folder, and what the control API said of it when it was written. A new format gets a folder of its own
here, beside this module. Nonces are spent in it, so that requests name theirs.
"""

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence.errors import DamagedStore, StoreError, Unusable
from simulator.persistence.maintenance import check
from simulator.persistence.store import Store
from tests.support.data_folders import DEFAULT, serving, told

FORMER = Path(__file__).parent / "former"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    (data / "sandboxes.sqlite3").write_bytes(gzip.decompress((FORMER / "sandboxes.sqlite3.gz").read_bytes()))
    return data


def former() -> Any:
    return json.loads(gzip.decompress((FORMER / "told.json.gz").read_bytes()))


def test_every_former_answer_is_given_again(folder: Path) -> None:
    with serving(folder) as client:
        for name, said in former().items():
            found = {subject: body.decode() for subject, body in told(client, name).items()}
            for subject, body in said.items():
                assert found[subject] == body, (name, subject)
        assert "quotas" not in client.sim("GET", DEFAULT).json


def test_an_upgraded_folder_can_be_resumed(folder: Path) -> None:
    with serving(folder) as client:
        count = len(client.live.core.state.transactions)
        for refid in ("before-3", "behind-3"):
            assert client.pay(refid, nonce=f"nonce-of-the-upgraded-{refid}").data["refid"] == refid  # found again
        assert len(client.live.core.state.transactions) == count
        assert client.pay("declined-2", account="0123456748", nonce="nonce-of-the-upgraded-declined").status == 200
        assert client.pay("new", sandbox="second", nonce="nonce-of-the-upgraded-second").status == 200
        client.advance()
        assert client.sim("GET", f"{DEFAULT}/invariants").json["ok"]
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "half"}).status == 200
        assert len(client.live.core.state.transactions) == 12
    with serving(folder) as client:
        assert len(client.live.core.state.transactions) == 12
        assert client.pay("after", nonce="nonce-of-the-upgraded-after").status == 200


@pytest.mark.parametrize(
    ("statement", "kind", "text"),
    [
        (
            "UPDATE entries SET data = x'00' WHERE id & 255 = 3",
            DamagedStore,
            "an entry is damaged, so that the folder",
        ),
        ("UPDATE lives SET head = x'00'", DamagedStore, "the head of default is damaged"),
        (
            "UPDATE lives SET floor = 1",
            Unusable,
            "dropped the beginning of its tape, .*: continue with that version",
        ),
    ],
)
def test_a_folder_that_cannot_be_converted_stays_unchanged(
    folder: Path, statement: str, kind: type[StoreError], text: str
) -> None:
    path = folder / "sandboxes.sqlite3"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    before = path.read_bytes()
    with pytest.raises(kind, match=text):
        Store(folder, version="2")
    assert path.read_bytes() == before


def test_a_refusal_names_the_command_that_converts_a_folder(folder: Path) -> None:
    with pytest.raises(Unusable, match=r"an earlier reseller-sim: .*`reseller-sim data compact DIR` convert"):
        check(folder)
    with Store(folder, version="2") as store:
        assert len(store.reader.lives()) == 2
    assert check(folder).problems == []
    assert sorted(path.name for path in folder.iterdir()) == ["owner.sqlite3", "sandboxes.sqlite3"]
