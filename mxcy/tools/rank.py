"""Start a command as one process of a job: the launcher puts this in front of it.

It waits for the command, and says whose end it was if that was a bad one. The file imports nothing
of mxcy, so that it costs milliseconds.
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
_GRACE = 5  # seconds for the others to tell what they were at when this process died
_FAILED = 1  # the code of Python's programs that print why they end


def main(command):
    """Run a command that ends when its parent does, and knows its number.

    Parameters
    ----------
    command : list of str
        Or ``--encoded`` and words that are together JSON in Base64, of variables and a command.

    Returns
    -------
    int
        Its exit code.
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
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda number, frame: os.kill(child, number))
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
        os._exit(1)  # it ended before


def _judge(code, name):
    """The code to end with; the process manager ends the others if it is not 0."""
    folder = os.environ.get("MXCY_JOB_FOLDER")
    member = folder and os.path.exists(os.path.join(folder, name))
    elastic = "MXCY_DIST_MIN_WORKERS" in os.environ
    if code == 0 and not member or code == _FAILED and not elastic:
        return code
    how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    how += "" if code else " and without a goodbye"
    print(f"{name} ({socket.gethostname()}) {how}", file=sys.stderr, flush=True)
    if elastic:  # Open MPI goes on without what is killed; its code is 0 then
        if folder:
            Path(folder, name).touch()  # which the launcher counts
        os.kill(os.getpid(), signal.SIGKILL)
    if code <= 0:
        time.sleep(_GRACE)
    return 128 - code if code < 0 else code or 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
