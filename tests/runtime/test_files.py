"""Atomic replacement of files."""

import os
import stat
import subprocess
import sys
import zipfile

import pytest

from mxcy._base import files
from mxcy.base import MXNetError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_replaces_and_leaves_no_temporary_file(tmp_path):
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
        "import os, sys; from mxcy._base import files\n"
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


def test_special_files_are_written_directly():
    with files.replacing(os.devnull) as file:
        file.write(b"new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_long_name(tmp_path):
    path = tmp_path / os.fsdecode("é".encode() * 127)
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


# --- archives -------------------------------------------------------------------------------------


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_unpacking_an_archive(tmp_path):
    path = zipped(tmp_path / "a.zip", **{"x": b"1", "in/side/y": b"2", "empty/": b""})
    files.unpack_zip(path, tmp_path / "all")
    assert (tmp_path / "all/x").read_bytes() == b"1"
    assert (tmp_path / "all/in/side/y").read_bytes() == b"2"
    files.unpack_zip(path, tmp_path / "one", ["x"])
    assert [p.name for p in (tmp_path / "one").iterdir()] == ["x"]
    with pytest.raises(MXNetError, match=r"a\.zip .*no item named 'z'"):
        files.unpack_zip(path, tmp_path / "one", ["z"])


@pytest.mark.parametrize("name", ["../out", "in/../../out", "{}/out", "link/out"])
def test_members_outside_of_the_folder(tmp_path, name):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    path = zipped(tmp_path / "a.zip", **{"good": b"1", name.format(tmp_path): b"2"})
    with pytest.raises(MXNetError, match=r"a\.zip: .*out' would be written outside"):
        files.unpack_zip(path, folder)
    assert not (tmp_path / "out").exists() and not (folder / "good").exists()


def test_damaged_archives(tmp_path):
    content = zipped(tmp_path / "a.zip", x=bytes(range(256)) * 8).read_bytes()
    path = tmp_path / "b.zip"
    for place in range(0, len(content), 3):
        path.write_bytes(content[:place] + b"\xff\x80" + content[place + 2 :])
        try:
            files.unpack_zip(path, tmp_path / "out")
        except MXNetError as error:
            assert "b.zip" in str(error)
    path.write_bytes(content[:40])
    with pytest.raises(MXNetError, match=r"b\.zip is not a valid zip archive"):
        files.unpack_zip(path, tmp_path / "out")
    assert not [p for p in (tmp_path / "out").iterdir() if p.name.endswith(".new")]


def test_error_names_the_file_not_its_temporary(tmp_path):
    path = str(tmp_path / "nothing" / "a.params")
    with pytest.raises(FileNotFoundError) as caught, files.replacing(path):
        pass
    assert caught.value.filename == path
