"""Variables for loading libraries, and the printed and checked table."""

import os
import shutil
from pathlib import Path

import pytest

import mxcy as mx
from mxcy import env, libinfo
from mxcy.env import document
from tests.env.run import ROOT, python

PACKAGE = Path(mx.__file__).parent
needs_cython = pytest.mark.skipif(
    not list((PACKAGE / "_cy").glob("*.so")), reason="the Cython modules are not built"
)

_FRONT = """
import json, sys, mxcy as mx
extensions = [name for name in sys.modules if name.startswith("mxcy._cy.")]
maps = {part for part in open("/proc/self/maps").read().split() if part.endswith("libmxcy.so")}
home, found = mx.nd._internal.NDArrayBase.__module__, mx.nd.dot(mx.nd.ones((2, 2)), mx.nd.ones(2))
print(json.dumps([home, len(extensions), sorted(maps), mx.libinfo.find_lib_path(),
                  found.asnumpy().tolist(), mx._library.open.open_library().mx_isa()]))
"""


@needs_cython
def test_enable_cython():
    """Both fronts compute the same; ctypes imports no extension module."""
    fast = python(_FRONT, MXNET_ENABLE_CYTHON=None).value
    plain = python(_FRONT, MXNET_ENABLE_CYTHON="0", MXNET_ENFORCE_CYTHON="1").value
    assert fast[0] == "mxcy._cy.ndarray" and fast[1] > 0
    assert plain[0] == "mxcy._ctypes.ndarray" and plain[1] == 0
    assert fast[4] == plain[4] == [2, 2]


def test_enforce_cython(tmp_path):
    """A broken build falls back to ctypes, or fails with its cause."""
    copy = tmp_path / "mxcy"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "data"))
    for module in (copy / "_cy").glob("*.so"):
        module.write_bytes(b"not a module")
    (copy / "_cy" / "ndarray.py").write_text("raise ImportError('there is nothing here')")
    place = {"PYTHONPATH": str(tmp_path), "MXNET_ENABLE_CYTHON": None}
    assert python(_FRONT, cwd=tmp_path, **place).value[0] == "mxcy._ctypes.ndarray"
    enforced = python(_FRONT, fails=True, cwd=tmp_path, MXNET_ENFORCE_CYTHON="1", **place)
    assert "MXNET_ENFORCE_CYTHON=1" in enforced.err and "direct cause" in enforced.err


@pytest.mark.parametrize("given", ["file", "folder"])
def test_library_path(tmp_path, given):
    """A library at another path is the one loaded, for both fronts."""
    copy = shutil.copy(libinfo.find_lib_path()[0], tmp_path / "libmxcy.so")
    wanted = copy if given == "file" else tmp_path
    _, _, maps, actual, result, _ = python(_FRONT, MXNET_LIBRARY_PATH=str(wanted)).value
    assert maps == actual == [str(copy)] and result == [2, 2]


def test_missing_library():
    wrong = python("import mxcy", fails=True, MXNET_LIBRARY_PATH="/nowhere/libmxcy.so")
    assert "MXNET_LIBRARY_PATH=/nowhere/libmxcy.so: file not found:" in wrong.err
    lenient = python(_FRONT, MXNET_LIBRARY_PATH="/nowhere", MXNET_ENV_STRICT="0")
    assert "MXNET_LIBRARY_PATH=/nowhere: file not found:" in lenient.err
    assert lenient.value[3] == libinfo.find_lib_path()


def test_include_and_conf_path(monkeypatch, tmp_path):
    assert (Path(libinfo.find_include_path()) / "mxcy.h").is_file()
    monkeypatch.setenv("MXNET_INCLUDE_PATH", str(tmp_path))
    assert libinfo.find_include_path() == str(tmp_path)
    conf = tmp_path / "tvmop.conf"
    conf.touch()
    monkeypatch.setenv("MXNET_CONF_PATH", str(conf))
    assert libinfo.find_conf_path() == str(conf)
    monkeypatch.setenv("MXNET_CONF_PATH", str(tmp_path / "missing"))
    with pytest.raises(RuntimeError, match="missing"):
        libinfo.find_conf_path()


def test_isa_level():
    """The kernels of a lower level run when they are requested and built."""
    own = python(_FRONT).value[-1]
    assert python(_FRONT, MXCY_ISA=f"v{own}").value[-1] == own
    wrong = python("import mxcy", fails=True, MXCY_ISA="v5")
    assert "MXCY_ISA='v5': expected one of v2, v3, v4" in wrong.err


def test_mxnet_profile():
    """The variable decides how the process starts."""
    show = (
        "import mxcy as mx; from mxcy import compat, profile\n"
        "print([*profile.current(), mx.util.is_np_array(), compat.MXNET_VERSION])"
    )
    assert python(show, MXCY_MXNET="2.0").out.strip() == "['2.0', 'MXCY_MXNET', True, '2.0.0']"
    started = python(show, MXCY_MXNET=None).out.strip()
    assert started == "['1.9', 'the default', False, '1.9.1']"
    wrong = python("import mxcy", fails=True, MXCY_MXNET="3")
    assert "MXCY_MXNET='3': expected one of 1.9, 2.0" in wrong.err


# --- the table as a whole -------------------------------------------------------------------------


def test_env_strict():
    """Warnings become errors."""
    told = python("import mxcy", MXNET_ENGINE_TYP="x", MXNET_FC_TRUE_FP16="1")
    assert "MXNET_ENGINE_TYP; did you mean MXNET_ENGINE_TYPE?" in told.err
    assert "MXNET_FC_TRUE_FP16 has no effect: " in told.err
    for name in ("MXNET_ENGINE_TYP", "MXNET_FC_TRUE_FP16"):
        wrong = python("import mxcy", fails=True, MXNET_ENV_STRICT="1", **{name: "1"})
        assert "EnvError" in wrong.err and name in wrong.err


def test_the_command_prints_the_table():
    done = python("-m", "mxcy.env", MXNET_ENABLE_CYTHON="0", MXCY_ISA="v9")
    assert "MXNET_ENABLE_CYTHON = 0  (active)" in done.out
    assert "Read at import by mxcy._library.front. Tested by tests/env/test_loading.py" in done.out
    assert "MXCY_ISA='v9': expected" in done.out  # invalid values do not prevent it from starting


def test_the_command_checks_the_environment():
    assert python("-m", "mxcy.env", "--check").out == "the environment is fine\n"
    done = python(
        "-m",
        "mxcy.env",
        "--check",
        fails=True,
        MXNET_ENABLE_CYTHON="yes",
        MXNET_HOM="/x",
        MXNET_CPU_PARALLEL_SIZE="many",
    )
    first, *others = done.out.splitlines()
    assert first == "mxcy knows no environment variable MXNET_HOM; did you mean MXNET_HOME?"
    assert len(others) == 2 and all("expected" in line for line in others)


def test_setting_variables_in_python(monkeypatch):
    monkeypatch.delenv("MXNET_HOME", raising=False)
    mx.util.setenv("MXNET_HOME", "/data/one")
    assert mx.util.getenv("MXNET_HOME") == os.environ["MXNET_HOME"] == mx.base.data_dir()
    with mx.test_utils.environment("MXNET_HOME", "/data/two"):
        assert mx.base.data_dir() == "/data/two"
    assert env.get("MXNET_HOME") == "/data/one"
    with pytest.warns(UserWarning, match="MXNET_HOMME; did you mean MXNET_HOME?"):
        mx.util.setenv("MXNET_HOMME", "/data")
    mx.util.setenv("MXNET_HOMME", None)
    mx.util.setenv("MXNET_HOME", None)
    assert mx.util.getenv("MXNET_HOME") is None


def test_the_page_is_fresh():
    """docs/environment.md is what ``python -m mxcy.env --markdown`` prints."""
    page = ROOT / "docs" / "environment.md"
    if not page.is_file():
        pytest.skip("the sources are not beside the tests")
    assert page.read_text() == document.page(), "python -m mxcy.env --markdown > " + str(page)


def test_bad_values_are_not_blamed_on_arrays():
    """A variable may be read for the first time while an array is copied."""
    program = "import numpy as np, mxcy as mx; mx.nd.array(np.ones((3, 4)))"
    wrong = python(program, fails=True, MXCY_VERBOSE="nonsense")
    assert "EnvError: environment variable MXCY_VERBOSE='nonsense'" in wrong.err
