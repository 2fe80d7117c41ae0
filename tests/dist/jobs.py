"""Run jobs of real MPI processes on this machine; they never outlive their test."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

__all__ = ["Ended", "job", "needs_mpi"]

ROOT = Path(__file__).resolve().parents[2]
_BANNER = re.compile("=|YOUR APPLICATION TERMINATED|This typically refers|Please see the FAQ")
_SET_BY_OTHERS = ("DMLC_", "PMI_", "PMIX_", "OMPI_", "MXCY_DIST", "MXCY_RANK", "MPI")


def needs_mpi(test):
    """Mark a test that starts MPI processes; it runs with one front only."""
    for mark in (
        pytest.mark.dist,
        pytest.mark.skipif(
            importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there: mxcy[dist]"
        ),
        pytest.mark.skipif(
            os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="with the Cython front it has run"
        ),
    ):
        test = mark(test)
    return test


class Ended:
    """A job that has ended.

    Attributes
    ----------
    code : int
    out, err : str
    seconds : float
    """

    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    @property
    def lines(self):
        """The ranks' output lines, sorted; a leading newline keeps texts of ranks apart.

        Without MPICH's banner about a killed rank, which depends on who ends first.
        """
        return sorted(line for line in self.out.splitlines() if line and not _BANNER.match(line))


def start(ranks, code, *arguments, servers=0, **variables):
    """Start a job with the launcher, in a separate process group."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_SET_BY_OTHERS)}
    environment.update(PYTHONPATH=os.pathsep.join([str(ROOT), *filter(None, sys.path)]))
    environment.update(OMP_NUM_THREADS="1", PYTHONFAULTHANDLER="1", **variables)
    command = ["-c", code] if isinstance(code, str) else code
    line = [sys.executable, "-m", "mxcy.tools.launch", "-n", str(ranks), "-s", str(servers)]
    return subprocess.Popen(
        [*line, *arguments, sys.executable, *command],
        env=environment,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def job(ranks, code, *arguments, timeout=60, **settings):
    """Run a program in several processes.

    Parameters
    ----------
    ranks : int
    code : str or list of str
        The program, or the arguments of ``python``.
    *arguments : str
        Further options of the launcher.
    timeout : float
        Seconds after which the job is killed, and the test fails.
    **settings
        `servers`, and environment variables.

    Returns
    -------
    Ended
    """
    began = time.monotonic()
    process = start(ranks, code, *arguments, **settings)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # the launcher ends the whole job
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        pytest.fail(f"the job took longer than {timeout} seconds:\n{out}\n{err}")
    return Ended(process.returncode, out, err, time.monotonic() - began)
