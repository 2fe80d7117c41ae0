"""What a process of a job does when it imports mxcy, by its role."""

import atexit
import os
import sys
import time

from mxcy import env

__all__ = ["begin"]

_LOOKS = 0.05  # seconds between looks of a server whether the job is over


def begin():
    """Serve, if this is a server; end, if it is a scheduler; join the others in the end, if not."""
    role = env.raw("DMLC_ROLE")  # others than these are refused by the first store
    if role == "scheduler":
        sys.exit(0)
    if role == "server":
        _serve()
        sys.exit(0)
    if env.raw("MXCY_RANK_PID") == str(os.getpid()):
        atexit.register(_join_late, os.getpid())


def _serve():
    """Be there until all workers are done."""
    from mxcy.dist.roles import read_place
    from mxcy.dist.world import World

    if not read_place().started:
        return
    world = World("server")
    over = world.everybody()
    while not over.done():
        time.sleep(_LOOKS)
    world.finalize()


def _join_late(process):
    """Take part in the job's start after all: others that use a store wait there."""
    from mxcy.dist.job import job

    if os.getpid() == process and job.progress is None:
        job.open().close()
