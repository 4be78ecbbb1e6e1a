"""A sandbox as a file and back: the same, all of it or nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.persistence.errors import DamagedStore, NoSandbox, Unusable
from simulator.persistence.maintenance import check, export_sandbox, import_sandbox
from simulator.persistence.reader import folder_reader
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention
from tests.support.stores import VERSION, append, fill, held, put_mark


def opened(folder: Path) -> Store:
    return Store(folder, version=VERSION, retention=Retention(2, bytes_max=8_000))


def file_of(store: Store, sandbox: str) -> Path:
    """The file of a sandbox, exported while the store has the folder open."""
    file = store.folder.parent / f"{store.folder.name} {sandbox}.sandbox"
    file.unlink(missing_ok=True)
    with folder_reader(store.folder) as reader:
        export_sandbox(reader, sandbox, file, version=VERSION)
    return file


def test_a_sandbox_moves_to_another_folder_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 40)
        store.writer.drop_mark("shop", "mark 8")
        store.writer.new_life("käse", b"")
        store.commit()
        wanted = held(store)
        files = [file_of(store, name) for name in wanted]
    with opened(tmp_path / "b") as store:
        fill(store, "other")
        assert [import_sandbox(store, file) for file in files] == list(wanted)
        assert {name: found for name, found in held(store).items() if name != "other"} == wanted
        assert append(store.writer, "shop", 0, b"next") == 41
        put_mark(store, "shop", "here")
        snapshot = store.writer.begin_snapshot("shop")
        snapshot.put("all", b"all")
        snapshot.complete()
        store.commit()
        found = held(store)["shop"]
        assert (found["marks"]["here"], found["snapshots"][-1]) == (41, (41, {"all": b"all"}))
    assert check(tmp_path / "b").problems == []


def test_entries_that_the_retention_rule_has_dropped_are_not_exported(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 60)
        for number in range(8, 57, 8):
            store.writer.drop_mark("shop", f"mark {number}")
        store.writer.begin_snapshot("shop").complete()
        store.commit()
        wanted = held(store)["shop"]
        assert wanted["floor"] == 56
        file = file_of(store, "shop")
    with opened(tmp_path / "b") as store:
        assert import_sandbox(store, file) == "shop"
        assert held(store) == {"shop": wanted}
    assert check(tmp_path / "b").problems == []


def test_a_sandbox_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop")
        before = held(store)
        file = file_of(store, "shop")
        append(store.writer, "shop", 0, b"later")
        store.commit()
        later = held(store)
        with pytest.raises(
            Unusable,
            match="has a sandbox 'shop' already: give --replace to replace it, or import it elsewhere",
        ):
            import_sandbox(store, file)
        assert held(store) == later
        import_sandbox(store, file, replaces=True)
        assert held(store) == before
        while not store.is_swept:
            store.commit()
    assert check(tmp_path / "a").problems == []


def test_a_sandbox_that_is_not_there_is_not_exported(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store, pytest.raises(NoSandbox):
        file_of(store, "none")


def test_a_sandbox_that_is_reset_while_it_is_exported_is_exported_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with opened(tmp_path / "a") as store:
        fill(store, "shop")
        wanted = held(store)
        with folder_reader(store.folder) as reader:
            assert reader.lives()
            store.writer.new_life("shop", b"")
            store.commit()
            export_sandbox(reader, "shop", file, version=VERSION)
    with opened(tmp_path / "b") as store:
        import_sandbox(store, file)
        assert held(store) == wanted


def test_a_damaged_sandbox_is_not_exported(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop")
        with closing(sqlite3.connect(store.path)) as other, other:
            other.execute("UPDATE entries SET data = x'00' WHERE id & 255 = 9")
        with pytest.raises(DamagedStore, match="sandbox 'shop': entry 9 is damaged: restore"):
            file_of(store, "shop")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not an exported sandbox"),
        (b"no sandbox", "not an exported sandbox"),
    ],
)
def test_a_file_that_is_no_sandbox_adds_nothing(tmp_path: Path, content: bytes, text: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with opened(tmp_path / "a") as store:
        with pytest.raises(DamagedStore, match=text):
            import_sandbox(store, file)
        assert held(store) == {}


def test_a_cut_or_changed_file_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 9)
        wanted = held(store)
        content = file_of(store, "shop").read_bytes()
    file = tmp_path / "wrong"
    with opened(tmp_path / "b") as store:
        for at in range(0, len(content), 1537):
            changed = bytearray(content)
            changed[at] ^= 0x10
            for wrong in (content[:at], bytes(changed)):
                file.write_bytes(wrong)
                try:
                    import_sandbox(store, file, replaces=True)
                except DamagedStore:
                    continue
                assert held(store) == wanted
        store.commit()


def test_a_folder_of_several_sandboxes_is_no_exported_one(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop")
        fill(store, "till")
    with opened(tmp_path / "b") as other, pytest.raises(DamagedStore, match="it has 2 sandboxes"):
        import_sandbox(other, store.path)
