"""Which processes share a machine, and have a level of their own in sums."""

__all__ = ["levels_of"]


def levels_of(rank, hosts):
    """The number of a process's machine, and that of the process on it.

    Parameters
    ----------
    rank : int
    hosts : list of str
        The machine of each process.

    Returns
    -------
    tuple of int or None
        None where there is nothing to gain: one machine, or one process on each, or not equally
        many on all.
    """
    machines = list(dict.fromkeys(hosts))
    counts = {hosts.count(machine) for machine in machines}
    if len(machines) < 2 or len(counts) > 1 or counts == {1}:
        return None
    return machines.index(hosts[rank]), hosts[:rank].count(hosts[rank])
