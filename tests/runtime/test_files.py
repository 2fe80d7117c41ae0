"""Replacing a file as a whole."""

import os
import stat
import subprocess
import sys

import pytest

from mxcy import files
from mxcy.base import MXNetError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_replaces_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "x"
    for content in (b"one", b"second"):
        with files.replacing(str(path)) as file:
            file.write(content)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]


def test_the_old_file_stays_until_the_end(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with files.replacing(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(error), files.replacing(str(path)) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), files.replacing(str(path)) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    code = (
        "import os, sys; from mxcy import files\n"
        "with files.replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os._exit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == 3
    assert path.read_bytes() == b"old"


def test_permissions(tmp_path):
    path = tmp_path / "x"
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    with files.replacing(str(path)):
        pass
    assert mode(path) == mode(plain)
    path.chmod(0o640)
    with files.replacing(str(path)):
        pass
    assert mode(path) == 0o640


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with files.replacing(str(link)) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_is_no_regular_file_is_written_directly():
    with files.replacing(os.devnull) as file:
        file.write(b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_long_name(tmp_path):
    path = tmp_path / ("é" * 127)
    with files.replacing(str(path)) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"


def test_local_path(tmp_path):
    assert files.local_path("file:///a/b") == "/a/b"
    assert files.local_path(tmp_path) == str(tmp_path)
    assert files.local_path("a b://c") == "a b://c"
    with pytest.raises(MXNetError, match="not hdfs://"):
        files.local_path("hdfs://a")
    for bad in (b"x", 3):
        with pytest.raises(TypeError):
            files.local_path(bad)
