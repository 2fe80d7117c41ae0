"""Random numbers that differ between the workers of a job."""

from mxcy import random

__all__ = ["seed"]


def seed(kv, seed_state):
    """Start this worker's random streams from a number of its own: `seed_state` plus its rank.

    Parameters
    ----------
    kv : KVStoreBase
        The store of the job.
    seed_state : int
        The same for all workers.
    """
    random.seed(int(seed_state) + kv.rank)
