"""Finding and loading the native library and its header."""

import shutil
from pathlib import Path

import pytest

import mxcy as mx
from mxcy import libinfo
from mxcy._library.open import open_library

FRONTS = {"_cy": "1", "_ctypes": "0"}


def test_the_package_holds_the_library():
    (path,) = libinfo.find_lib_path()
    assert Path(path) == Path(mx.__file__).parent / "libmxcy.so"
    assert open_library().mx_abi_version() == 1


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize("given", ["file", "folder"])
def test_library_path_is_obeyed(run_python, tmp_path, front, given):
    copy = shutil.copy(libinfo.find_lib_path()[0], tmp_path / "libmxcy.so")
    wanted = copy if given == "file" else tmp_path
    printed = run_python(
        "import mxcy as mx\n"
        f"assert mx._library.front.package == '{front}'\n"
        "maps = open('/proc/self/maps').read().split()\n"
        "print(mx.libinfo.find_lib_path()[0], *{m for m in maps if m.endswith('libmxcy.so')})",
        MXNET_LIBRARY_PATH=str(wanted),
        MXNET_ENABLE_CYTHON=FRONTS[front],
    )
    assert printed.split() == [str(copy), str(copy)]


def test_a_missing_library_is_named(run_python):
    error = run_python("import mxcy", fails=True, MXNET_LIBRARY_PATH="/nowhere/libmxcy.so")
    assert "MXNET_LIBRARY_PATH=/nowhere/libmxcy.so: file not found: /nowhere/libmxcy.so" in error


def test_a_missing_library_may_be_a_warning(run_python):
    printed = run_python(
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import mxcy as mx\n"
        "print('/nowhere' in str(caught[0].message), mx.libinfo.find_lib_path()[0])",
        MXNET_LIBRARY_PATH="/nowhere",
        MXNET_ENV_STRICT="0",
    )
    assert printed.split() == ["True", libinfo.find_lib_path()[0]]


def test_a_broken_library_is_named(run_python, tmp_path):
    broken = tmp_path / "libmxcy.so"
    broken.write_bytes(b"no library")
    error = run_python("import mxcy", fails=True, MXNET_LIBRARY_PATH=str(broken))
    assert f"cannot load the native library {broken}" in error


def test_include_path(monkeypatch, tmp_path):
    assert (Path(libinfo.find_include_path()) / "mxcy.h").is_file()
    monkeypatch.setenv("MXNET_INCLUDE_PATH", str(tmp_path))
    assert libinfo.find_include_path() == str(tmp_path)
    monkeypatch.setenv("MXNET_INCLUDE_PATH", "/nowhere")
    with pytest.raises(RuntimeError, match="/nowhere"):
        libinfo.find_include_path()


def test_conf_path(monkeypatch, tmp_path):
    monkeypatch.delenv("MXNET_CONF_PATH", raising=False)
    with pytest.raises(RuntimeError, match="not set"):
        libinfo.find_conf_path()
    file = tmp_path / "tvmop.conf"
    file.write_text("")
    monkeypatch.setenv("MXNET_CONF_PATH", str(file))
    assert libinfo.find_conf_path() == str(file)
