"""Wrapper that the launcher puts in front of each process's command.

It waits for the command and reports a failure with the process's name. It imports nothing of mxcy,
to start within milliseconds.
"""

import base64
import ctypes
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
_GRACE = 5  # seconds for other processes to report their errors after this one died
_FAILED = 1  # exit code of Python programs that have printed an error


def main(command):
    """Run a command that ends with its parent and has its rank in the environment.

    Parameters
    ----------
    command : list of str
        The command, or ``--encoded`` and Base64-encoded JSON of variables and a command.

    Returns
    -------
    int
        Exit code of the command.
    """
    if command[0] == "--encoded":
        variables, command = json.loads(base64.urlsafe_b64decode("".join(command[1:])))
        os.environ.update(variables)
    parent = os.getppid()
    _tie_to(parent)
    number = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    role, joins = "rank", os.environ.get("MXCY_DIST_JOINS")
    if os.environ.get("DMLC_ROLE") == "server":
        role, workers = "server", int(os.environ.get("DMLC_NUM_WORKER", "0"))
        number = os.environ["DMLC_SERVER_ID"] = str(int(number) - workers)
    elif joins:
        role, number = "newcomer", f"{joins}.{number}"
    else:
        os.environ["DMLC_WORKER_ID"] = number
    child = _start(command)
    passed_on = (signal.SIGTERM, signal.SIGINT)
    for signum in passed_on:
        signal.signal(signum, lambda number, frame: os.kill(child, number))
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # its number stays taken until waitpid
    for signum in passed_on:
        signal.signal(signum, signal.SIG_DFL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return _judge(code, f"{role} {number}")


def _start(command):
    starter = os.getpid()
    child = os.fork()
    if child:
        return child
    _tie_to(starter)
    os.environ["MXCY_RANK_PID"] = str(os.getpid())
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def _tie_to(parent):
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent has already ended


def _judge(code, name):
    """Exit code of the wrapper; if not 0, the process manager ends the other processes."""
    folder = os.environ.get("MXCY_JOB_FOLDER")
    member = folder and os.path.exists(os.path.join(folder, name))
    elastic = "MXCY_DIST_MIN_WORKERS" in os.environ
    if code == 0 and not member or code == _FAILED and not elastic:
        return code
    how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    how += "" if code else " and without a goodbye"
    print(f"{name} ({socket.gethostname()}) {how}", file=sys.stderr, flush=True)
    if elastic:  # Open MPI continues without killed processes, and exits with 0
        if folder:
            Path(folder, name).touch()  # counted by the launcher
        os.kill(os.getpid(), signal.SIGKILL)
    if code <= 0:
        time.sleep(_GRACE)
    return 128 - code if code < 0 else code or 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
