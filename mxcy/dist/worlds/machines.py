"""The two levels of a job's ranks, machines and ranks on each, for hierarchical all-reduce."""

__all__ = ["levels_of"]


def levels_of(rank, hosts):
    """Index of a rank's machine, and its local rank there.

    Parameters
    ----------
    rank : int
    hosts : list of str
        The host name of each rank.

    Returns
    -------
    tuple of int or None
        None where two levels gain nothing (one machine, or one rank on each) or machines have
        different numbers of ranks.
    """
    machines = list(dict.fromkeys(hosts))
    counts = {hosts.count(machine) for machine in machines}
    if len(machines) < 2 or len(counts) > 1 or counts == {1}:
        return None
    return machines.index(hosts[rank]), hosts[:rank].count(hosts[rank])
