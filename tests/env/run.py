"""Run programs in fresh interpreters with a controlled environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["Done", "python"]

ROOT = Path(__file__).resolve().parents[2]
#: inherited variables to remove; the front under test is kept
_OURS = ("MXNET_", "MXCY_", "NNVM_", "DMLC_", "OMP_", "KMP_", "GOMP_", "ONEDNN_", "DNNL_")
_KEPT = ("MXNET_ENABLE_CYTHON", "MXNET_HOME", "MXCY_ISA", "MXCY_ONEDNN_LIBRARY")


class Done:
    """The output of a program.

    Attributes
    ----------
    out, err : str
        Standard output and standard error.
    """

    def __init__(self, out, err):
        self.out, self.err = out, err

    @property
    def value(self):
        """The last line of the output, as JSON."""
        return json.loads(self.out.splitlines()[-1])


def python(code, *arguments, options=(), fails=False, cwd=None, timeout=60, **variables):
    """Run a program with mxcy on its path and only the given variables of mxcy set.

    Parameters
    ----------
    code : str
        The program; or ``"-m"``, with the module's name as the first argument.
    *arguments : str
        Command-line arguments.
    options : sequence of str
        Options of the interpreter.
    fails : bool
        Whether the program is expected to fail.
    cwd : path, optional
        The folder to run in.
    timeout : float
        Seconds after which the program is ended, and the test fails.
    **variables : str or None
        Environment variables.

    Returns
    -------
    Done
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OURS) or k in _KEPT}
    environment = {**kept, "PYTHONPATH": str(ROOT), **variables}
    start = [sys.executable, *options, *([] if code == "-m" else ["-c"])]
    command = [*start, code, *arguments]
    done = subprocess.run(
        command,
        env={k: v for k, v in environment.items() if v is not None},
        cwd=cwd,
        text=True,
        capture_output=True,
        timeout=timeout,
    )
    assert (done.returncode != 0) == fails, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return Done(done.stdout, done.stderr)
