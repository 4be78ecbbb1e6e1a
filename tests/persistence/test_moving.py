"""A sandbox as a file and back: the same, all of it or nothing."""

import io
import struct
import zlib
from pathlib import Path

import pytest

from simulator.persistence.checking import check
from simulator.persistence.errors import Damaged, NoSandbox, SandboxExists
from simulator.persistence.moving import MAGIC, exported, imported
from simulator.persistence.retention import Retention
from simulator.persistence.store import Store
from tests.support.stores import VERSION, as_killed, fill, held


def opened(folder: Path) -> Store:
    return Store.open(folder, version=VERSION, retention=Retention(2, beginning=False))


def file_of(store: Store, sandbox: str) -> bytes:
    return b"".join(exported(store.reading, sandbox))


def test_a_sandbox_moves_to_another_folder_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 40)
        store.writing.drop_mark("shop", "mark 8")
        store.writing.new_life("käse", b"")
        store.commit()
        wanted = held(store)
        assert wanted["shop"]["floor"] == 8
        files = [file_of(store, name) for name in wanted]
    with opened(tmp_path / "b") as store:
        assert [imported(store, io.BytesIO(file)) for file in files] == list(wanted)
        assert held(store) == wanted
        assert store.writing.append("shop", 0, b"next") == 41
        assert store.writing.new_life("käse", b"") == 2
    assert check(tmp_path / "b").problems == []


def test_a_sandbox_moves_whose_snapshots_share_parts(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 60)
        for number in range(8, 57, 8):
            store.writing.drop_mark("shop", f"mark {number}")
        snapshot = store.writing.begin_snapshot("shop")
        snapshot.keep("catalog")
        snapshot.complete()
        store.commit()
        wanted = held(store)["shop"]
        assert wanted["floor"] == 56
        file = file_of(store, "shop")
    with opened(tmp_path / "b") as store:
        assert imported(store, io.BytesIO(file), name="other") == "other"
        assert held(store) == {"other": wanted}
    assert check(tmp_path / "b").problems == []


def test_a_sandbox_is_not_replaced(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, "shop")
        before = held(store)
        file = file_of(store, "shop")
        with pytest.raises(
            SandboxExists,
            match="has a sandbox 'shop' already: give --replace to put this one in its place, or import into another",
        ):
            imported(store, io.BytesIO(file))
        assert held(store) == before
        imported(store, io.BytesIO(file), name="again")
        assert held(store) == before | {"again": before["shop"]}


def test_a_sandbox_that_is_not_there_is_not_exported(tmp_path: Path) -> None:
    with opened(tmp_path) as store, pytest.raises(NoSandbox):
        file_of(store, "none")


def frame(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">cI", kind, len(content)) + content + struct.pack(">I", zlib.crc32(content))


HEAD = frame(b"H", struct.pack(">QQQH", 1, 0, 0, 1) + b"x" + b"head")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (b"", "no exported sandbox"),
        (MAGIC.replace(b"1", b"2"), "by another version"),
        (MAGIC, "it is cut"),
        (MAGIC + frame(b"E", b""), "it begins with a frame b'E'"),
        (MAGIC + frame(b"H", b"short"), "a frame is shorter or longer than one of its kind"),
        (MAGIC + frame(b"H", struct.pack(">QQQH", 1 << 63, 0, 0, 1) + b"x"), "numbers that no sandbox has"),
        (MAGIC + frame(b"H", struct.pack(">QQQH", 1, 0, 0, 1) + b"\xff"), "can't decode"),
        (MAGIC + frame(b"H", struct.pack(">QQQH", 1, 0, 0, 0)), "the name of a sandbox has 0 characters"),
        (MAGIC + HEAD[:-1] + b"?", "frame 1"),
        (MAGIC + HEAD, "it is cut"),
        (MAGIC + HEAD + struct.pack(">cI", b"E", 67_112_891), "frame 2 would have 67112891 bytes"),
        (MAGIC + HEAD + frame(b"E", struct.pack(">Qq", 2, 0)), "entry 2 comes behind 0"),
        (MAGIC + HEAD + frame(b"E", b""), "a frame is shorter or longer than one of its kind"),
        (MAGIC + HEAD + frame(b"M", struct.pack(">QH", 1, 1) + b"m"), "a mark at 1 is beyond"),
        (MAGIC + HEAD + frame(b"S", struct.pack(">QQ", 1, 0)), "a snapshot at 1 is beyond"),
        (MAGIC + HEAD + frame(b"S", struct.pack(">QQ", 0, 9)), "a snapshot stands behind the last entry"),
        (MAGIC + HEAD + frame(b"S", struct.pack(">QQ", 0, 0)) + frame(b"K", b"none"), "none"),
        (MAGIC + HEAD + frame(b"P", b"\0\1aa"), "a frame b'P' is out of place"),
        (MAGIC + HEAD + frame(b"X", b""), "a frame b'X' is out of place"),
        (MAGIC + HEAD + frame(b"Z", struct.pack(">Q", 2)), "its end"),
        (MAGIC + HEAD + frame(b"Z", struct.pack(">Q", 1)) + b"more", "its end"),
    ],
)
def test_a_file_that_is_not_as_it_was_written_adds_nothing(tmp_path: Path, file: bytes, text: str) -> None:
    with opened(tmp_path) as store:
        with pytest.raises(Damaged) as raised:
            imported(store, io.BytesIO(file))
        assert text in str(raised.value)
        fill(store, "x")
        assert list(held(store)) == ["x"]
    assert check(tmp_path).problems == []


def test_a_file_without_anything_but_a_head_is_a_sandbox(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        imported(store, io.BytesIO(MAGIC + HEAD + frame(b"Z", struct.pack(">Q", 1))))
        assert store.reading.sandbox("x").head == b"head"


def test_a_cut_or_changed_file_is_refused_wherever_it_is(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 9)
        file = file_of(store, "shop")
        for at in range(0, len(file), 37):
            changed = bytearray(file)
            changed[at] ^= 0x10
            for wrong in (file[:at], bytes(changed)):
                with pytest.raises((Damaged, SandboxExists)):
                    imported(store, io.BytesIO(wrong))
                assert store.failure is None
        assert list(held(store)) == ["shop"]


@pytest.mark.slow
def test_an_import_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "a") as store:
        fill(store, "shop", 9)
        for _ in range(3):
            store.writing.append("shop", 0, bytes(3_000_000))
        store.commit()
        file = file_of(store, "shop")
        with opened(tmp_path / "b") as other:

            class Killed(io.BytesIO):
                def read(self, size: int | None = -1) -> bytes:
                    if self.tell() > len(file) - 200 and not (tmp_path / "c").exists():
                        as_killed(tmp_path / "b", tmp_path / "c")
                    return super().read(size)

            imported(other, Killed(file))
    assert (tmp_path / "c" / "sandboxes.sqlite3-wal").stat().st_size > 6_000_000
    with opened(tmp_path / "c") as store:
        assert held(store) == {}
        while not store.is_swept:
            store.commit()
        assert store.reading._connection.execute("SELECT count(*) FROM entries").fetchone() == (0,)
    assert check(tmp_path / "c").problems == []
