"""Fixtures for all tests."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest
from _pytest.runner import runtestprotocol

#: signals that stay ignored: nohup's, and those that Python ignores by default
IGNORED = {signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ}


def pytest_configure(config):
    """Make signals and the import of modules what they are in a terminal."""
    restore_signals()
    # Idle threads of OpenBLAS spin in every program that imports NumPy: a tenth of the tests' time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.dont_write_bytecode:
        keep_bytecode(config)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from the million objects that collecting makes.

    Searching them took a third of the time of collecting, and then a second each time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


if "PYTEST_XDIST_WORKER" in os.environ:

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        """Report calls and failures only: five messages of a test cost more than most tests."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def restore_signals():
    """Give signals their default actions, which background jobs and CI runners may have changed.

    Ignored and blocked signals are inherited: Python raises no KeyboardInterrupt when it starts
    with SIGINT ignored. Programs that tests start inherit the defaults from here.
    """
    for number in signal.valid_signals() - IGNORED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def keep_bytecode(config):
    """Keep compiled modules in a folder of this run where the environment forbids to write them.

    Tests start thousands of programs, each of which would spend most of its time compiling mxcy.
    """
    folder = tempfile.mkdtemp(prefix="mxcy-bytecode-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder
    sys.dont_write_bytecode = False


@pytest.fixture(autouse=True)
def no_error_is_left():
    """Fail a test if one of its operations failed without the error being raised."""
    yield
    if "mxcy" in sys.modules:
        sys.modules["mxcy"].nd.waitall()


@pytest.fixture
def run_python(tmp_path):
    """A function that runs a program in a fresh interpreter and returns its output.

    ``run_python(code, fails=False, **variables)`` sets environment variables (None removes one),
    asserts that the program succeeds, or with `fails` that it fails, and then returns its errors.
    """

    def run(code, fails=False, **variables):
        environment = {**os.environ, **variables}
        environment = {name: text for name, text in environment.items() if text is not None}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=tmp_path,
            text=True,
            capture_output=True,
            timeout=100,
        )
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stderr if fails else done.stdout

    return run
