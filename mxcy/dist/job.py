"""The job of this process, opened by the first store that needs it."""

import threading
from pathlib import Path

from mxcy import env
from mxcy._base.files import replacing
from mxcy.base import MXNetError
from mxcy.dist import shutdown
from mxcy.dist.progress import ProgressThread
from mxcy.dist.roles import read_place
from mxcy.dist.worlds.memory_world import MemoryJob
from mxcy.dist.worlds.message_log import logged
from mxcy.dist.worlds.world import World, has_engine, no_engine

__all__ = ["Job", "job"]


class Job:
    """The job of this process.

    Attributes
    ----------
    progress : ProgressThread or None
        None until the job is open.
    """

    def __init__(self):
        self.progress = None
        self._lock = threading.Lock()

    def open(self):
        """Open the job on the first call; return its progress thread.

        Returns
        -------
        ProgressThread

        Raises
        ------
        MXNetError
            For invalid variables, or without MPI.
        """
        with self._lock:
            if self.progress is None:
                self.progress = _start()
                shutdown.watch(self.progress)
            return self.progress

    @property
    def arriving(self):
        """bool: whether this process has joined a running job and has not pushed yet."""
        if self.progress is None:
            return env.get("MXCY_DIST_JOINS") > 0
        return self.progress.admission.arriving

    def new_exchange(self, reduction=None):
        """Create an exchange; all ranks create theirs in the same order."""
        return self.open().new_exchange(env.get("MXCY_DIST_BUCKET_BYTES"), reduction)


def _start():
    place = read_place()
    patience, interval = env.get("MXCY_DIST_TIMEOUT"), env.get("MXCY_DIST_LOG_SECONDS")
    heartbeat = env.get("PS_HEARTBEAT_INTERVAL"), env.get("PS_HEARTBEAT_TIMEOUT")
    min_workers = env.get("MXCY_DIST_MIN_WORKERS")
    env.get("MXCY_DIST_BUCKET_BYTES")
    verbose = env.get("PS_VERBOSE")
    if not place.started:
        return ProgressThread(lambda: logged(MemoryJob(1).worlds[0], verbose), patience, interval)
    if not has_engine():
        raise no_engine("MPI has started this process")

    joins, shares_memory = env.get("MXCY_DIST_JOINS"), env.get("MXCY_DIST_SHARED_MEMORY")

    def open_world():
        world = World(place.role, min_workers is not None, joins, shares_memory)
        if joins:
            return logged(world, verbose)
        if place.workers is not None and place.workers != world.size:
            raise MXNetError(
                f"DMLC_NUM_WORKER={place.workers}, but MPI has started {world.size} workers"
            )
        return logged(world, verbose)

    return ProgressThread(
        lambda: _Member(open_world()),
        patience,
        interval,
        heartbeat,
        min_workers,
        env.get("MXCY_JOB_FOLDER"),
        env.get("MXCY_DIST_REPLACEMENTS"),
    )


class _Member:
    """A world with a file in the job's folder until its normal end, watched by the launcher."""

    def __init__(self, world):
        folder = env.get("MXCY_JOB_FOLDER")
        self._world = world
        self._note = Path(folder, world.name) if folder else None
        if self._note:
            with replacing(self._note) as file:
                file.write("\n".join((world.hosts[world.rank], *world.left_behind())).encode())

    def __getattr__(self, name):
        return getattr(self._world, name)

    def finalize(self):
        self._world.finalize()
        if self._note and self._world.joins:  # counted by the launcher
            self._note.replace(self._note.with_name(f"goodbye of {self._note.name}"))
        elif self._note:
            self._note.unlink(missing_ok=True)


job = Job()
