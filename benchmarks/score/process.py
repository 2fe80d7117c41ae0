"""The parent's side of a contender's process; see `worker.py` for the child's."""

import json
import os
import signal
import subprocess
from pathlib import Path

__all__ = ["ContenderError", "Process"]

ROOT = Path(__file__).resolve().parents[2]


class ContenderError(RuntimeError):
    """A contender's process failed or ended."""


class Process:
    """A contender in a separate process, possibly in another environment.

    It is stopped between commands, as idle threads of some libraries keep spinning.

    Parameters
    ----------
    python : str
        The interpreter.
    kind : str
        ``module:class`` of the worker.
    threads : int
        Threads that it may use.
    log : str or Path
        File for its output.
    worker : str
        Module that the process runs.
    """

    def __init__(self, python, kind, threads, log, worker="benchmarks.score.worker"):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)}
        environment.pop("CXX", None)  # PyTorch's compiler expects the name of a single program
        self._kind, self._log = kind, Path(log)
        with open(log, "w") as file:
            self._process = subprocess.Popen(
                [python, "-m", worker, kind, str(threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                cwd=ROOT,
                env=environment,
            )

    def ask(self, do, **arguments):
        """Send a command and wait for its answer.

        Raises
        ------
        ContenderError
            If the command fails or the process ends.
        """
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            last = self._log.read_text().strip().splitlines()[-1:]
            raise ContenderError(f"{self._kind} ended during {do}: {' '.join(last)}")
        self._process.send_signal(signal.SIGSTOP)
        answer = json.loads(line)
        if "error" in answer:
            raise ContenderError(f"{self._kind}, {do}: {answer['error']}")
        return answer

    @property
    def pid(self):
        """The process's number."""
        return self._process.pid

    def close(self):
        """End the process."""
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
