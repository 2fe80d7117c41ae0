"""Wheels: errors of `make wheels`, and the front of a wheel without Cython."""

import importlib.util
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest

import mxcy as mx
from tests.env.run import python

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "tools/wheels.py").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools/wheels.py")
wheels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wheels)
LIBRARIES = ("mxcy/libmxcy.so", "mxcy/libgomp.so.1")


def wheel(folder, *names, size=10):
    path = folder / "mxcy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x" * size)
    return path


def test_a_wheel_with_its_runtime_is_accepted(tmp_path):
    wheels.check_content(wheel(tmp_path, *LIBRARIES))


@pytest.mark.parametrize(
    "names", [LIBRARIES[:1], (*LIBRARIES, "mxcy.libs/libgomp-a34b3233.so.1")], ids=["none", "two"]
)
def test_no_or_two_openmp_runtimes_are_refused(tmp_path, names):
    with pytest.raises(SystemExit, match="should hold mxcy/libgomp.so.1 and no other"):
        wheels.check_content(wheel(tmp_path, *names))


def test_a_large_wheel_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(wheels, "LIMIT", 1000)
    with pytest.raises(SystemExit, match="more than 1000"):
        wheels.check_content(wheel(tmp_path, *LIBRARIES, size=600))


def test_the_pythons_that_are_declared_are_built_and_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = {
        line.rpartition(" ")[2]
        for line in project["project"]["classifiers"]
        if line.startswith("Programming Language :: Python :: 3.")
    }
    images = {name.partition("-")[0] for name in project["tool"]["cibuildwheel"]["build"]}
    assert images == {f"cp{version.replace('.', '')}" for version in declared}
    assert declared <= set(wheels.VERSIONS)


def test_a_wheel_of_the_ctypes_front_alone_says_nothing_about_cython(tmp_path):
    ignore = shutil.ignore_patterns("_cy", "_cy3")
    shutil.copytree(Path(mx.__file__).parent, tmp_path / "mxcy", ignore=ignore)
    here = {"PYTHONPATH": str(tmp_path), "cwd": tmp_path, "MXNET_ENABLE_CYTHON": None}
    # The finder of an editable installation would find _cy in the source tree.
    program = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import mxcy as mx
print(mx._library.front.package, mx.nd.ones(2).sum().asscalar())
"""
    assert python(program, options=["-W", "error"], **here).out.split() == ["_ctypes", "2.0"]
    error = python(program, fails=True, MXNET_ENFORCE_CYTHON="1", **here).err
    assert "MXNET_ENFORCE_CYTHON=1, but the Cython modules" in error.splitlines()[-1]
