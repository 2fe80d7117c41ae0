"""Start a command as one process of a job: the launcher puts this in front of it.

The file imports nothing of mxcy, so that it costs milliseconds.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")


def main(command):
    """Become a command that ends when its parent does, and knows its number."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)  # it ended before
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    if os.environ.get("DMLC_ROLE") == "server":
        workers = int(os.environ.get("DMLC_NUM_WORKER", "0"))
        os.environ["DMLC_SERVER_ID"] = str(int(rank) - workers)
    else:
        os.environ["DMLC_WORKER_ID"] = rank
    os.environ["MXCY_RANK_PID"] = str(os.getpid())
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1:])
