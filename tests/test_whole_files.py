"""Files are replaced as a whole, and only files."""

import os
import stat
from pathlib import Path

import pytest

from simulator.whole_files import write_whole


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)


def test_a_refused_write_leaves_the_file_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")

    def refuse(written: Path) -> None:
        assert written.read_text() == "new"
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        write_whole(path, b"new", refuse)
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


def test_links_and_pipes_are_left_alone(tmp_path: Path) -> None:
    kept, link, dangling, pipe = (tmp_path / name for name in ("kept", "link", "dangling", "pipe"))
    kept.write_text("old")
    link.symlink_to(kept)
    dangling.symlink_to(tmp_path / "nowhere")
    os.mkfifo(pipe)
    for path in (link, dangling, pipe, tmp_path):
        with pytest.raises(OSError, match="it is not a regular file"):
            write_whole(path, b"new")
    assert (kept.read_text(), (tmp_path / "nowhere").exists()) == ("old", False)
