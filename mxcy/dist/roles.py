"""What the environment says of this process's place in a job."""

from mxcy import env
from mxcy.base import MXNetError

__all__ = ["Place", "read_place"]

#: set by the process managers of MPI for the processes that they start
_STARTED = ("PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
_NUMBERS = ("DMLC_NUM_WORKER", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_PORT", "DMLC_WORKER_ID")


class Place:
    """A process's place.

    Attributes
    ----------
    role : str
        worker, server or scheduler.
    started : bool
        Whether a process manager of MPI has started it.
    workers : int or None
        How many workers the job is to have.
    """

    def __init__(self, role, started, workers):
        self.role, self.started, self.workers = role, started, workers


def read_place():
    """Find out this process's place.

    Returns
    -------
    Place

    Raises
    ------
    MXNetError
        For variables that are no numbers or roles, or that ask for a job that nobody has started.
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
