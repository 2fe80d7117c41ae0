"""Fixtures: engines of a given type, and C++ programs that use the library."""

import shutil
import subprocess
from pathlib import Path

import pytest

import mxcy as mx
from mxcy import libinfo
from mxcy._library import front

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "kernels"
TYPES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")


def configure(kind, workers=1, priority_workers=4, gpu_workers=2, gpu_copy_workers=2):
    """Switch to an engine."""
    front.configure_engine(kind, workers, priority_workers, gpu_workers, gpu_copy_workers, False)


@pytest.fixture(autouse=True)
def programs_choose_their_engine(monkeypatch):
    """Processes started by tests use the default engine, whatever the tests run with."""
    monkeypatch.delenv("MXNET_ENGINE_TYPE", raising=False)


@pytest.fixture
def use_engine():
    """A function that switches the engine, see `configure`; the old one is restored afterwards."""
    before = mx.engine.stats()
    yield configure
    names = ("type", "workers", "cpu_priority", "gpu_workers", "gpu_copy")
    configure(*(before[name] for name in names))


@pytest.fixture(params=TYPES)
def engine(request, use_engine):
    """The name of the current engine; parametrized over all types, with three workers."""
    use_engine(request.param, workers=3)
    return request.param


@pytest.fixture(params=TYPES[1:])
def threaded(request, use_engine):
    """The same for the types that have threads."""
    use_engine(request.param, workers=3)
    return request.param


@pytest.fixture(scope="session")
def run_native(tmp_path_factory):
    """A function that compiles a program of this folder, runs it and returns (status, output)."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None or not KERNELS.is_dir():
        pytest.skip("needs a C++ compiler and the sources of the kernels")
    folder = tmp_path_factory.mktemp("native")
    library = libinfo.find_lib_path()[0]

    def run(name, *arguments):
        program = folder / name
        if not program.exists():
            command = [
                compiler,
                "-std=c++17",
                "-O2",
                "-pthread",
                f"-I{KERNELS}",
                f"-I{KERNELS}/include",
                HERE / f"{name}.cc",
                library,
                f"-Wl,-rpath,{Path(library).parent}",
                "-o",
                program,
            ]
            subprocess.run(command, check=True)
        done = subprocess.run(
            [program, *map(str, arguments)], text=True, capture_output=True, timeout=100
        )
        return done.returncode, done.stdout + done.stderr

    return run
