"""A full disk, removed files, a killed process: every answered request survives, and no other."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from simulator.persistence.errors import StoreError, WriteFailed
from simulator.persistence.maintenance import check
from simulator.persistence.schema import DATABASE
from simulator.persistence.store import Durability, Store
from tests.support.stores import VERSION, append, as_killed, filled, held

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

# A limit of the size of files is what a process can have of a full disk without being root.
FILLS = f"""
import resource, signal, sys
from simulator.persistence.errors import WriteFailed
from simulator.persistence.store import Store
from tests.support.stores import append
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1], sys.argv[2], version="{VERSION}", log_bytes=int(sys.argv[3]))
store.writer.new_life("shop", b"")
store.commit()
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, resource.RLIM_INFINITY))
errors = []
for number in range(1, 200):
    for _ in range(3):
        append(store.writer, "shop", number, bytes(2_000))
    store.writer.put_mark(store.writer.life_of("shop"), str(number), 3 * number)
    try:
        store.commit()
        assert not errors
        print(3 * number)
    except WriteFailed as error:
        errors.append(str(error))
assert len(set(errors)) == 1 and len(errors) > 10, errors
print(errors[0])
try:
    store.close()
except WriteFailed:
    print("closed with the error")
else:
    print("closed")
"""

WRITES = f"""
import sys
from simulator.persistence.store import Store
from tests.support.stores import append
store = Store(sys.argv[1], sys.argv[2], version="{VERSION}", log_bytes=100_000)
if not store.writer.lives:
    store.writer.new_life("shop", b"")
while True:
    for _ in range(5):
        n = append(store.writer, "shop", 0, b"entry" * 60)
        store.writer.put_mark(store.writer.life_of("shop"), str(n % 5), n)
    if n % 200 == 0:
        snapshot = store.writer.begin_snapshot("shop")
        snapshot.put("all", b"%d" % n * 5000)
        snapshot.complete()
    store.commit()
    sys.stdout.write(f"{{n}}\\n")
    sys.stdout.flush()
"""


@pytest.mark.parametrize("log_bytes", [1 << 24, 100_000])
@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_full_disk_ends_all_commits_and_loses_nothing_that_was_answered(
    tmp_path: Path, durability: Durability, log_bytes: int
) -> None:
    """There is no more room for the log, or for the database, into which a short log is brought."""
    program = [sys.executable, "-c", FILLS, str(tmp_path), durability, str(log_bytes)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    *answered, error, closed = done.stdout.splitlines()
    assert error.startswith(f"{tmp_path / DATABASE}: ")
    assert error.endswith("start again; nothing before is lost")
    assert closed == "closed"
    assert check(tmp_path).problems == []
    with Store(tmp_path, version=VERSION) as store:
        found = held(store)["shop"]
        assert len(found["entries"]) == int(answered[-1])
        assert found["marks"] == {str(n // 3): n for n in map(int, answered)}
        append(store.writer, "shop", 0, b"goes on")
        store.commit()


STARTS = f"""
import resource, signal, sys
from simulator.persistence.errors import Unusable
from simulator.persistence.store import Store
from tests.support.stores import append
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    Store(sys.argv[1], version="{VERSION}")
except Unusable as error:
    print(error)
"""


@pytest.mark.parametrize("size", [0, 3_000, 20_000])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_start_on_a_full_disk_is_refused_and_changes_nothing(tmp_path: Path, is_new: bool, size: int) -> None:
    wanted = {} if is_new else filled(tmp_path)
    program = [sys.executable, "-c", STARTS, str(tmp_path), str(size)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{tmp_path}")
    assert done.stdout.count("\n") == 1
    with Store(tmp_path, version=VERSION) as store:
        assert held(store) == wanted


def test_files_that_are_removed_end_all_commits(tmp_path: Path) -> None:
    store = Store(tmp_path / "a", version=VERSION)
    store.writer.new_life("shop", b"")
    store.commit()
    copy = as_killed(tmp_path / "a", tmp_path / "b")
    for path in store.folder.iterdir():
        path.unlink()
    answers: list[StoreError | None] = []
    for _ in range(2):
        append(store.writer, "shop", 0, b"")
        store.request_commit(answers.append)
    assert [str(answer) for answer in answers] == [
        f"{store.folder}: its files were removed while in use: start again"
    ] * 2
    with pytest.raises(WriteFailed):
        store.commit()
    store.close()
    with Store(copy, version=VERSION) as reopened:
        assert held(reopened)["shop"]["entries"] == []


def test_an_internal_error_leaves_no_half_commit_either(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        store.writer.new_life("shop", b"")
        store.commit()
        append(store.writer, "shop", 0, b"whole")
        append(store.writer, "shop", 1 << 64, b"no time of SQLite")
        with pytest.raises(WriteFailed, match="cannot be written"):
            store.commit()
        assert held(store)["shop"]["entries"] == []
    with Store(tmp_path, version=VERSION) as store:
        assert held(store)["shop"]["entries"] == []


def test_an_interrupt_in_a_commit_leaves_no_half_commit_and_blocks_no_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, version=VERSION)
    store.writer.new_life("shop", b"")
    store.commit()
    append(store.writer, "shop", 0, b"whole")

    def interrupted() -> NoReturn:
        raise KeyboardInterrupt

    store.is_swept = False
    monkeypatch.setattr(store, "_sweep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.request_commit(lambda error: None)
    with pytest.raises(WriteFailed):
        store.commit()
    store.close()
    with Store(tmp_path, version=VERSION) as store:
        assert held(store)["shop"]["entries"] == []


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_process_that_is_killed_while_it_commits_has_lost_nothing_that_it_answered(
    tmp_path: Path, durability: Durability
) -> None:
    """A server is killed eight times, after different numbers of answers; the next server resumes."""
    for lines in (1, 150, 3, 60, 17, 300, 41, 7):
        with subprocess.Popen(
            [sys.executable, "-c", WRITES, str(tmp_path), durability], cwd=ROOT, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            for _ in range(lines):
                answered = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            rest = process.stdout.read().splitlines(keepends=True)
            answered = max([answered, *(int(line) for line in rest if line.endswith(b"\n"))])
        assert check(tmp_path).problems == []
        with Store(tmp_path, durability, version=VERSION) as store:
            found = held(store)["shop"]
            n = store.reader.life("shop").n
            assert answered <= n <= answered + 5
            assert n % 5 == 0
            assert found["marks"] == {str(one % 5): one for one in range(n - 4, n + 1)}
            assert [at for at, _ in found["snapshots"]] == list(range(200, n + 1, 200))[-3:]
