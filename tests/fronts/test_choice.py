"""The choice of the front: MXNET_ENABLE_CYTHON, MXNET_ENFORCE_CYTHON, a broken build."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxcy

PACKAGE = Path(mxcy.__file__).parent
SHOW = (
    "import mxcy as mx; "
    "print(mx.nd._internal.NDArrayBase.__module__, (mx.nd.ones((2,)) + 1).sum().asscalar())"
)


def run(code, path=None, **variables):
    """(exit status, output, errors) of a fresh interpreter."""
    env = {k: v for k, v in os.environ.items() if not k.endswith("_CYTHON")}
    env["PYTHONPATH"] = place = str(path or PACKAGE.parent)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**env, **variables},
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout.strip(), done.stderr


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """A copy of the package without a loadable Cython module."""
    place = tmp_path_factory.mktemp("broken")
    shutil.copytree(PACKAGE, place / "mxcy", ignore=shutil.ignore_patterns("__pycache__", "data"))
    for module in (place / "mxcy" / "_cy").glob("*.so"):
        module.write_bytes(b"not a module")
    return place


needs_cython = pytest.mark.skipif(
    not list((PACKAGE / "_cy").glob("*.so")), reason="the Cython modules are not built"
)


@needs_cython
def test_cython_is_the_default():
    status, output, _ = run(SHOW)
    assert (status, output) == (0, "mxcy._cy.ndarray 4.0")


@needs_cython
def test_the_documented_name_gives_the_same_modules():
    code = (
        "import mxcy._cy3.ndarray, mxcy._cy3.oplib.ordering, mxcy._cy, sys; "
        "print(mxcy._cy3.ndarray is mxcy._cy.ndarray, "
        "sys.modules['mxcy._cy3.oplib.ordering'] is mxcy._cy.oplib.ordering)"
    )
    status, output, _ = run(code)
    assert (status, output) == (0, "True True")


def test_ctypes_on_request_imports_no_extension():
    code = SHOW + "; import sys; print([m for m in sys.modules if m.startswith('mxcy._cy.')])"
    status, output, _ = run(code, MXNET_ENABLE_CYTHON="0")
    assert (status, output.split("\n")) == (0, ["mxcy._ctypes.ndarray 4.0", "[]"])


def test_enforce_is_ignored_when_cython_is_off():
    status, output, _ = run(SHOW, MXNET_ENABLE_CYTHON="0", MXNET_ENFORCE_CYTHON="1")
    assert (status, output) == (0, "mxcy._ctypes.ndarray 4.0")


def test_broken_build_falls_back_with_one_warning(broken):
    status, output, errors = run(SHOW, path=broken)
    assert (status, output) == (0, "mxcy._ctypes.ndarray 4.0")
    assert errors.count("UserWarning") == 1 and "using ctypes" in errors


def test_broken_build_raises_when_enforced(broken):
    status, _, errors = run(SHOW, path=broken, MXNET_ENFORCE_CYTHON="1")
    assert status != 0
    assert "MXNET_ENFORCE_CYTHON=1" in errors and "direct cause" in errors


def test_bad_value_names_the_variable():
    status, _, errors = run(SHOW, MXNET_ENABLE_CYTHON="yes")
    assert status != 0 and "MXNET_ENABLE_CYTHON" in errors and "'yes'" in errors


@pytest.mark.parametrize("variable", [None, "OMP_WAIT_POLICY", "GOMP_SPINCOUNT"])
def test_the_spin_count_is_set_only_while_loading(variable):
    """Only the library sees a short spin, and only if the user did not set one."""
    variables = {"OMP_WAIT_POLICY": "Passive", "GOMP_SPINCOUNT": "7"}
    code = (
        "import os, sys\n"
        "seen = []\n"
        "hook = lambda name, given: seen.append(given) if name.startswith('os.putenv') else None\n"
        "sys.addaudithook(hook)\n"
        "import mxcy\n"
        "print((b'GOMP_SPINCOUNT', b'10000') in seen, os.environ.get('GOMP_SPINCOUNT'))\n"
    )
    extra = {variable: variables[variable]} if variable else {}
    environment = {k: v for k, v in os.environ.items() if k not in variables}
    actual = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **extra},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert actual == f"{variable is None} {extra.get('GOMP_SPINCOUNT')}\n"
