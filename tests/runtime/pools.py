"""Pools for tests of the memory pool."""

from mxcy._library import front

MIB = 1 << 20


def make(strategy="Naive", page=4096, large=2 * MIB, cutoff=24, reserve=0, temp=1, source=0):
    return front.Pool(strategy, page, large, cutoff, reserve, temp, None, source)


def counted(pool, *names):
    stats = pool.stats()
    return tuple(stats[name] for name in names)
