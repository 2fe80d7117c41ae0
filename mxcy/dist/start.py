"""What a process of a job does when it imports mxcy, by its role."""

import atexit
import os
import sys

from mxcy import env

__all__ = ["begin"]


def begin():
    """End, if this is a scheduler; a worker joins the others in the end."""
    if env.raw("DMLC_ROLE") == "scheduler":
        sys.exit(0)
    if env.raw("DMLC_ROLE") != "server" and env.raw("MXCY_RANK_PID") == str(os.getpid()):
        atexit.register(_join_late, os.getpid())


def _join_late(process):
    """Take part in the job's start after all: others that use a store wait there."""
    from mxcy.dist.job import job

    if os.getpid() == process and job.progress is None:
        job.open().close()
