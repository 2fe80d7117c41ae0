"""The program of hardware checks, on the stand-in with tiny sizes."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.gpu import on_hardware
from tests.gpu.hardware.notes import Notes, read
from tests.gpu.hardware.report import markdown
from tests.gpu.standin.build import build_driver

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(
    find_spec("cupy") is None or find_spec("Cython") is None,
    reason="CuPy and Cython are not installed; make test-gpu installs them",
)
@pytest.mark.timeout(900)
def test_parts_on_the_standin(tmp_path):
    parts = "machine,device,launches,networks,bandwidth,products"
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    variables = {**os.environ, "MXCY_CUDA_DRIVER": str(build_driver()), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.on_hardware", "--small", "--minutes", "14"]
        + ["--parts", parts, "--out", str(tmp_path), "--select", "few_elements"],
        env=variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert list(report) == parts.split(",")
    assert report["machine"]["facts"]["2 * arange(5) + 1"] == [1, 3, 5, 7, 9]
    assert report["device"]["tables"]["tests"][0]["passed"] == 4
    assert {row["what"] for row in report["launches"]["tables"]["events"]} == {
        "record",
        "wait by a stream",
    }
    assert report["networks"]["tables"]["steps"][0]["apart"] < 1e-4
    assert report["products"]["tables"]["convolutions, float32"]
    assert len(report["bandwidth"]["tables"]["copies"]) == 4
    assert "## products" in (tmp_path / "report.md").read_text("utf-8")


def test_time_is_shared():
    parts = list(on_hardware.PARTS)
    left, given = 540.0, []
    for part in parts:
        given.append(on_hardware.share(part, parts, left))
        left -= given[-1]
    assert left >= -1e-9
    assert all(seconds >= 10 for seconds in given)
    assert max(given) <= 600
    assert on_hardware.share("battery", ["battery"], 100) == pytest.approx(100)


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit):
        on_hardware.parsed(["--parts", "nothing"])
    assert "there is no part nothing" in capsys.readouterr().err


def test_results_of_parts_are_kept(tmp_path):
    path = Path(tmp_path, "notes.jsonl")
    notes = Notes(path, 60, True)
    notes.fact("a", 1)
    notes.row("t", x=1.5, y="a|b")
    notes.tried("division", lambda: 1 / 0)
    with path.open("a", encoding="utf-8") as file:
        file.write('\n{"kind": "fa')  # the process was killed while writing
    found = read(path)
    assert found["facts"] == {"a": 1}
    assert found["tables"] == {"t": [{"x": 1.5, "y": "a|b"}]}
    assert "ZeroDivisionError" in found["wrong"][0]
    text = markdown({"part": {**found, "ended": "status 0"}})
    assert "| 1.5 | a\\|b |" in text
    late = Notes(path, -1, True)
    assert late.tried("anything", lambda: 1) is None
    assert read(path)["tables"]["left out"] == [{"what": "anything", "why": "no time"}]
