"""What importing mxcy does in a process of a job, depending on its role."""

import atexit
import os
import sys

from mxcy import env

__all__ = ["begin"]


def begin():
    """End a scheduler process; have a worker that never uses a store join the job at exit."""
    if env.raw("DMLC_ROLE") == "scheduler":
        sys.exit(0)
    if env.raw("DMLC_ROLE") != "server" and env.raw("MXCY_RANK_PID") == str(os.getpid()):
        atexit.register(_join_late, os.getpid())


def _join_late(process):
    """Open and close the job at exit: ranks that use a store wait for all to open it."""
    from mxcy.dist.job import job

    if os.getpid() == process and job.progress is None:
        job.open().close()
