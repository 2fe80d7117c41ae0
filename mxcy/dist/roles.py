"""The place of a process in its job, read from the environment."""

from mxcy import env
from mxcy.base import MXNetError

__all__ = ["Place", "read_place"]

#: set by MPI process managers for the processes that they start
_STARTED = ("PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
_NUMBERS = ("DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_PORT", "DMLC_WORKER_ID")


class Place:
    """The role of a process and how it was started.

    Attributes
    ----------
    role : str
        'worker', 'server' or 'scheduler'.
    started : bool
        Whether an MPI process manager has started it.
    workers : int or None
        The number of workers that the job should have.
    """

    def __init__(self, role, started, workers):
        self.role, self.started, self.workers = role, started, workers


def read_place():
    """Read this process's place from the environment.

    Returns
    -------
    Place

    Raises
    ------
    MXNetError
        For invalid variables, or when they ask for several workers without an MPI job.
    """
    for name in (*_STARTED, *_NUMBERS, "DMLC_PS_VAN_TYPE"):
        env.get(name)
    started = any(env.is_set(name) for name in _STARTED)
    workers = env.get("DMLC_NUM_WORKER")
    if not started and (workers or 1) > 1:
        raise MXNetError(
            f"DMLC_NUM_WORKER={workers}, but no process manager of MPI has started this process: "
            f"start the job by 'python -m mxcy.tools.launch -n {workers} ...' or by mpiexec"
        )
    return Place(env.get("DMLC_ROLE") or "worker", started, workers)
