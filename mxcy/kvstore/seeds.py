"""Seeding of random streams per worker."""

from mxcy import random

__all__ = ["seed"]


def seed(kv, seed_state):
    """Seed this worker's random streams with `seed_state` plus its rank.

    Parameters
    ----------
    kv : KVStoreBase
        The store of the job.
    seed_state : int
        Must be the same for all workers.
    """
    random.seed(int(seed_state) + kv.rank)
