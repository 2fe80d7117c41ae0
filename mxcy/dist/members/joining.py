"""Workers that have no more data: they take part in sums, with nothing, until all have joined.

A worker that starts a session of a bucket tells those that have joined, who then start it as well.
"""

from collections import defaultdict

__all__ = ["Joining"]


class Joining:
    """Who has joined.

    Parameters
    ----------
    progress : ProgressThread
    """

    def __init__(self, progress):
        self._progress = progress
        self._round = 0  # how often all have joined
        self._orders = defaultdict(list)  # of each round: the ranks, as they were heard of
        self._over = None

    # -- for other threads ------------------------------------------------------------------------

    def join(self, on_done):
        """Take part with nothing, until all do; ``on_done(error)`` is called then."""
        self._progress.submit(lambda: self._join(on_done))

    # -- the progress thread ---------------------------------------------------------------------

    @property
    def ranks(self):
        """list of int: who has joined while others go on."""
        return self._orders[self._round]

    @property
    def waits(self):
        """bool: whether this worker has joined, and waits for others."""
        return self._over is not None

    def _join(self, on_done):
        for exchange in self._progress.exchanges:
            exchange.seal()
        self._over = on_done
        sessions = [exchange.sessions() for exchange in self._progress.exchanges]
        self._progress.control.to_all("join", round=self._round, sessions=sessions)
        self.hear_join(self._progress.world.rank, self._round, sessions)
        self._progress.admission.end_all_steps()

    def hear_join(self, rank, number, sessions):
        """A worker has joined, after that many sessions of each bucket."""
        self._orders[number].append(rank)
        if rank == self._progress.world.rank:
            return
        for exchange, counts in zip(self._progress.exchanges, sessions, strict=False):
            for bucket, (mine, its) in enumerate(zip(exchange.sessions(), counts, strict=False)):
                if mine > its:
                    self._tell(rank, exchange, bucket, mine)
                elif its > mine and self.waits:
                    exchange.take_part(bucket, its)

    def note_session(self, exchange, bucket, count):
        """Tell of a session that this worker has started, its `count`-th one of a bucket."""
        for rank in self.ranks:
            if rank != self._progress.world.rank:
                self._tell(rank, exchange, bucket, count)

    def _tell(self, rank, exchange, bucket, count):
        self._progress.control.to_one(
            rank, "session", exchange=exchange.number, bucket=bucket, count=count
        )

    def hear_session(self, exchange, bucket, count):
        """A worker that goes on has started a session."""
        if self.waits:
            self._progress.exchanges[exchange].take_part(bucket, count)

    def step(self):
        """See whether all have joined; whether something has moved."""
        if self._over is None:
            return False
        gone = self._progress.control.left.keys() - set(self.ranks)
        if gone:
            self.fail(f"{self._progress.control.name(min(gone))} left the job")
            return True
        if len(self.ranks) < self._progress.world.size:
            return False
        if any(exchange.takes_part() for exchange in self._progress.exchanges):
            return False
        over, self._over = self._over, None
        self._orders.pop(self._round)
        self._round += 1
        over(None)
        return True

    def fail_waiting(self, text):
        """Nobody waits for others any more."""
        self._orders.clear()
        self.fail(text)

    def fail(self, text):
        """There is nobody to wait for any more."""
        over, self._over = self._over, None
        if over is not None:
            over(f"{text}, in join()")
