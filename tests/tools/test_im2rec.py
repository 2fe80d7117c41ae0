"""`mxcy.tools.im2rec` and `rec2idx`, by their command lines and as MXNet's files in `tools`."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from tests.image.pictures import picture, png

cv2 = pytest.importorskip("cv2", reason="images need the extra 'image'")
TOOLS = Path(__file__).resolve().parents[2] / "tools"
if not TOOLS.is_dir():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)

# The list of the folders below, shuffled by MXNet's fixed seed, 100.
SHUFFLED = "2\t1.000000\tdogs/0.png\n1\t0.000000\tcats/1.png\n0\t0.000000\tcats/0.png\n"


def _program(name):
    """A file of tools, or a module of the package."""
    return [str(TOOLS / name)] if name.endswith(".py") else ["-m", f"mxcy.tools.{name}"]


@pytest.fixture
def run(tmp_path):
    """A function that runs a tool and returns its output."""

    def tool(name, *arguments, fails=False):
        done = subprocess.run(
            [sys.executable, *_program(name), *map(str, arguments)],
            cwd=tmp_path,
            text=True,
            capture_output=True,
            env={"PYTHONPATH": str(TOOLS.parent)},
            timeout=60,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    return tool


@pytest.fixture
def images(tmp_path):
    """Folders of three pictures, and a text."""
    root = tmp_path / "images"
    for number, name in enumerate(("cats/0.png", "cats/1.png", "dogs/0.png")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(png(picture(30 + number, 40, number)))
    (root / "cats/notes.txt").write_text("no image")
    return root


def records(path):
    reader = mx.recordio.MXIndexedRecordIO(f"{path}.idx", f"{path}.rec", "r")
    return {key: mx.recordio.unpack(reader.read_idx(key)) for key in reader.keys}


def test_lists(run, images, tmp_path):
    printed = run("im2rec.py", "--list", "--recursive", "all", images)
    assert printed == "cats 0\ndogs 1\n"
    assert (tmp_path / "all.lst").read_text() == SHUFFLED
    run("im2rec.py", "--list", "--no-shuffle", "cats", images / "cats")
    assert (tmp_path / "cats.lst").read_text() == "0\t0.000000\t0.png\n1\t0.000000\t1.png\n"
    run("im2rec.py", "--list", "--recursive", "--chunks", 2, "parts", images)
    parts = [(tmp_path / f"parts_{number}.lst").read_text() for number in (0, 1)]
    assert "".join(parts) == SHUFFLED and parts[0].count("\n") == 2
    split = ("--train-ratio", 0.34, "--test-ratio", 0.34)
    run("im2rec.py", "--list", "--recursive", *split, "split", images)
    actual = [(tmp_path / f"split_{part}.lst").read_text() for part in ("test", "train", "val")]
    assert "".join(actual) == SHUFFLED and all(text.count("\n") == 1 for text in actual)


def test_records(run, images, tmp_path):
    (tmp_path / "all.lst").write_text(SHUFFLED + "7\t5\tnone.png\nbad line\n8\tx.png\n")
    printed = run(
        "im2rec.py", "--num-thread", 2, "--encoding", ".png", "--quality", 3, "all", images
    )
    assert "none.png: No such file" in printed and "'bad line" in printed and "no label" in printed
    assert "3 of 4 images" in printed
    actual = records(tmp_path / "all")
    assert list(actual) == [2, 1, 0]
    header, content = actual[2]
    assert (header.label, header.id) == (1.0, 2)
    np.testing.assert_array_equal(mx.image.imdecode(content).asnumpy(), picture(32, 40, 2))


def test_names_that_are_no_text(run, images, tmp_path):
    name = b"\xe9.png"
    (images / "cats" / os.fsdecode(name)).write_bytes((images / "cats/0.png").read_bytes())
    run("im2rec.py", "--list", "--no-shuffle", "cats", images / "cats")
    assert name in (tmp_path / "cats.lst").read_bytes()
    run("im2rec.py", "cats.lst", images / "cats")
    assert len(records(tmp_path / "cats")) == 3


def test_records_of_changed_images(run, images, tmp_path):
    (tmp_path / "two.lst").write_text("0\t1.5\t2.5\tcats/0.png\n")
    run("im2rec.py", "--resize", 20, "--center-crop", "--pack-label", "two", images)
    header, content = records(tmp_path / "two")[0]
    assert header.label.tolist() == [1.5, 2.5]
    assert mx.image.imdecode(content).shape == (20, 20, 3)
    run("im2rec.py", "--resize", 20, "--color", 0, "two", images)
    header, content = records(tmp_path / "two")[0]
    assert header.label == 1.5 and content[:2] == b"\xff\xd8"
    assert cv2.imdecode(np.frombuffer(content, np.uint8), -1).shape == (20, 26)
    run("im2rec.py", "--pass-through", "two", images)
    assert records(tmp_path / "two")[0][1] == (images / "cats/0.png").read_bytes()


def test_without_lists_there_is_a_message(run, images):
    assert "make one with --list" in run("im2rec.py", "nothing", images, fails=True)


def test_a_folder_that_is_not_there_is_named(run):
    assert "there is no folder" in run("im2rec.py", "--list", "pets", "nowhere", fails=True)


def test_an_index_is_made_again(run, images, tmp_path):
    (tmp_path / "all.lst").write_text(SHUFFLED)
    run("im2rec", "all", images)
    run("rec2idx", "all.rec", "again.idx")
    kept = [line.split("\t")[1] for line in (tmp_path / "all.idx").read_text().splitlines()]
    again = (tmp_path / "again.idx").read_text().splitlines()
    assert again == [f"{key}\t{offset}" for key, offset in enumerate(kept)]


def test_a_missing_file_has_no_index(run):
    assert "there is no file none.rec" in run("rec2idx.py", "none.rec", "a.idx", fails=True)
