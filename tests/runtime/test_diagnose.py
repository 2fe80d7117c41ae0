"""``python -m mxcy.diagnose``: what works, what does not, and how to fix it."""

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxcy as mx
from mxcy import diagnose
from tests.env.run import python

PACKAGE = Path(mx.__file__).parent


def copied(tmp_path, *patterns):
    """A copy of the package without files of some names; its compiled modules stay valid."""
    shutil.copytree(PACKAGE, tmp_path / "mxcy", ignore=shutil.ignore_patterns(*patterns))
    return tmp_path


def findings_of(out):
    """The lines of the section of parts, each with the command that fixes it."""
    lines = out.partition("parts: ")[2].splitlines()[1:]
    return {
        line.partition(":")[0].strip(): "\n".join(lines[i : i + 2]) for i, line in enumerate(lines)
    }


def test_all_sections_are_printed():
    done = python("-m", "mxcy.diagnose", options=["-W", "error"], MXNET_HOME="/nowhere")
    titles = [line.split()[1].strip(":") for line in done.out.splitlines() if line[:3] == "---"]
    assert titles == ["python", "pip", "mxnet", "os", "hardware", "environment", "parts"]
    assert mx.libinfo.find_lib_path()[0] in done.out
    assert "MXNET_HOME      : /nowhere" in done.out
    parts = findings_of(done.out)
    assert {"Cython front", "ctypes front", "oneDNN", "OpenCV", "MPI", "CUDA"} <= parts.keys()
    assert "✔" in parts["ctypes front"] and f"✔ {mx.__version__}" in parts["mxcy"]


def test_sections_are_chosen():
    others = [f"--{name}=0" for name in ("pip", "mxnet", "os", "hardware", "parts")]
    done = python("-m", "mxcy.diagnose", *others, MXCY_MISSPELLED="1", options=["-W", "ignore"])
    assert done.out.startswith("---------- python")
    assert "---------- environment" in done.out and "---------- os" not in done.out
    assert "problem         : mxcy knows no environment variable MXCY_MISSPELLED" in done.out


def test_bad_values_do_not_stop_it():
    done = python(
        "-m", "mxcy.diagnose", "--parts=0", MXNET_ENGINE_TYPE="None", options=["-W", "ignore"]
    )
    assert "MXNET_ENGINE_TYPE" in done.out.partition("environment: ")[2]


def test_missing_parts_are_named_with_a_remedy(tmp_path):
    (tmp_path / "cv2.py").write_text("raise ImportError('libGL.so.1: cannot open it')")
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py/__init__.py").write_text("class rc: pass")
    (tmp_path / "mpi4py/MPI.py").write_text("raise RuntimeError('cannot load MPI library')")
    path = f"{tmp_path}:{PACKAGE.parent}"
    out = python("-m", "mxcy.diagnose", PYTHONPATH=path, MXNET_ONEDNN_ENABLED="0").out
    parts = findings_of(out)
    assert "✖" in parts["OpenCV"] and "libGL.so.1" in parts["OpenCV"]
    assert "opencv-python-headless" in parts["OpenCV"]
    assert "✖" in parts["MPI"] and "mpich" in parts["MPI"]
    assert "✖" in parts["oneDNN"] and "unset MXNET_ONEDNN_ENABLED" in parts["oneDNN"]


def test_virtual_devices_are_listed():
    out = python("-m", "mxcy.diagnose", MXCY_VIRTUAL_DEVICES="3").out
    assert "✔ 3 virtual devices" in findings_of(out)["CUDA"]


def test_devices_without_cupy(monkeypatch):
    find = importlib.util.find_spec
    absent = ("cupy", "mpi4py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n in absent else find(n))
    monkeypatch.setattr(diagnose, "_probe", lambda code: ("2 12", ""))
    monkeypatch.setattr(mx, "num_gpus", lambda: 0)
    (cuda,) = [finding for finding in diagnose.findings() if finding.part == "CUDA"]
    assert cuda.detail == "the driver sees 2 devices, but CuPy is not installed"
    assert cuda.command.startswith("pip install 'cupy-cuda12x")


def test_unbuilt_tree_names_the_build_command(tmp_path):
    tree = copied(tmp_path, "*.so")
    (tree / "kernels").mkdir()
    (tree / "setup.py").touch()
    error = python("import mxcy", fails=True, PYTHONPATH=str(tree), cwd=tree).err.splitlines()
    assert error[-1].startswith("ImportError: the native library ")
    assert error[-1].endswith(f"in {tree} run: pip install -e .")
    assert not [line for line in error if "another exception" in line or "Warning" in line]
    command = [sys.executable, "-P", str(tree / "mxcy/diagnose.py")]
    script = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, cwd="/")
    assert script.returncode == 1
    assert f"to fix: pip install -e {tree}" in script.stdout
    assert "---------- hardware" in script.stdout


@pytest.mark.skipif(diagnose._modules_of_others(), reason="the front of this Python is not built")
def test_modules_built_for_another_python_are_reported(tmp_path):
    own = importlib.machinery.EXTENSION_SUFFIXES[0]
    tree = copied(tmp_path, f"*{own}")
    (tree / "mxcy/_cy/native.cpython-399-x86_64-linux-gnu.so").touch()
    done = python("-m", "mxcy.diagnose", PYTHONPATH=str(tree), cwd=tree, MXNET_ENABLE_CYTHON=None)
    front = findings_of(done.out)["Cython front"]
    assert "✖ built for cpython-399-x86_64-linux-gnu" in front
    assert "pip install --force-reinstall --no-deps mxcy" in front


def test_extras_are_those_of_the_metadata(monkeypatch):
    wanted = ["numpy>=2", "nowhere-at-all>=1; extra == 'one'", 'numpy>=2; extra == "one"']
    monkeypatch.setattr(diagnose.importlib.metadata, "requires", lambda name: wanted)
    (packages,) = diagnose.extras().values()
    assert packages[0] == ("nowhere-at-all", None)
    assert packages[1][0] == "numpy" and packages[1][1]
