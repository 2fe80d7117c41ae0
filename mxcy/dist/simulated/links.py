"""Cost model of all-reduce: latency and seconds per byte of each lane that it uses."""

import math

__all__ = ["WAYS", "Links", "Stage"]

WAYS = ("doubling", "ring", "two-level")


class Stage:
    """A part of an all-reduce.

    Parameters
    ----------
    lane : {'host', 'card'}
        Memory of each host, or its network card; one all-reduce at a time uses its bandwidth.
    latency : float
        Seconds during which the lane is free for others.
    busy : float
        Seconds during which it is occupied.
    """

    def __init__(self, lane, latency, busy):
        self.lane, self.latency, self.busy = lane, latency, busy


class Links:
    """Connections between and inside hosts, all of which are alike.

    Parameters
    ----------
    ranks, per_host : int
        Number of ranks, and of ranks that share a host and its card.
    alpha, beta : float
        Seconds per message and per byte, between hosts.
    host_alpha, host_beta : float
        The same between ranks of a host.
    copy : float
        Seconds per byte of copying gradients to a buffer, and of copying sums from it.
    kept : int
        Bytes above which the store copies sums, as they do not stay in memory that ranks share.
    keep : float
        Seconds per byte by which these copies delay the next sum.
    way : {'doubling', 'ring', 'two-level'}
        Algorithm: recursive halving and doubling; a ring; or reduction inside hosts, then of
        shares between hosts.

    Raises
    ------
    ValueError
        When the ranks do not fill their hosts, or the way is unknown.
    """

    def __init__(
        self,
        ranks,
        per_host,
        alpha,
        beta,
        host_alpha,
        host_beta,
        copy=0.0,
        way="doubling",
        kept=math.inf,
        keep=0.0,
    ):
        if way not in WAYS:
            raise ValueError(f"Links: way must be one of {', '.join(WAYS)}, it is {way!r}")
        per_host = min(per_host, ranks)
        if per_host < 1 or ranks % per_host:
            raise ValueError(f"Links: {ranks} ranks do not fill hosts of {per_host}")
        self.ranks, self.per_host, self.hosts = ranks, per_host, ranks // per_host
        self.alpha, self.beta = alpha, beta
        self.host_alpha, self.host_beta = host_alpha, host_beta
        self.copy, self.way = copy, way
        self.kept, self.keep = kept, keep

    def stages(self, size, copied=False):
        """The stages of one all-reduce of `size` bytes.

        Parameters
        ----------
        size : int
        copied : bool
            Whether arrays are copied to a buffer before, and from one afterwards.

        Returns
        -------
        list of Stage
        """
        copies = [Stage("host", 0.0, size * self.copy)] if copied and self.copy else []
        keeps = [Stage("host", 0.0, size * self.keep)] if size > self.kept else []
        return [*copies, *self._stages(size), *copies, *keeps]

    def _stages(self, size):
        if self.ranks == 1:
            return []
        if self.way == "ring":
            return self._ring(size)
        inside = self._inside(size)
        if self.hosts == 1:
            return inside
        # without levels, all bytes of each rank go through the shared card
        through = size if self.way == "two-level" else size * self.per_host
        between = Stage(
            "card",
            2 * _levels(self.hosts) * self.alpha,
            2 * through * _others(self.hosts) * self.beta,
        )
        return [*inside, between]

    def _inside(self, size):
        if self.per_host == 1:
            return []
        latency = 2 * _levels(self.per_host) * self.host_alpha
        return [Stage("host", latency, 2 * size * _others(self.per_host) * self.host_beta)]

    def _ring(self, size):
        steps, share = 2 * (self.ranks - 1), 2 * size * _others(self.ranks)
        if self.hosts == 1:
            return [Stage("host", steps * self.host_alpha, share * self.host_beta)]
        return [Stage("card", steps * self.alpha, share * self.beta)]


def _levels(count):
    return math.ceil(math.log2(count))


def _others(count):
    """The fraction of the bytes that other ranks own."""
    return (count - 1) / count
