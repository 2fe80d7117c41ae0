"""Joined workers, out of data: they contribute zeros to sums until all workers have joined.

A worker that starts a session of a bucket notifies those that have joined, which then start it too.
"""

from collections import defaultdict

__all__ = ["Joining"]


class Joining:
    """The workers that have joined.

    Parameters
    ----------
    progress : ProgressThread
    """

    def __init__(self, progress):
        self._progress = progress
        self._round = 0  # how often all workers have joined
        self._orders = defaultdict(list)  # ranks by round, in order of arrival
        self._over = None

    # -- called by other threads -------------------------------------------------------------------

    def join(self, on_done):
        """Contribute zeros until all workers have joined; call ``on_done(error)`` then."""
        self._progress.submit(lambda: self._join(on_done))

    # -- on the progress thread --------------------------------------------------------------------

    @property
    def ranks(self):
        """list of int: the ranks that have joined while others continue."""
        return self._orders[self._round]

    @property
    def waits(self):
        """bool: whether this worker has joined and waits for others."""
        return self._over is not None

    def _join(self, on_done):
        for exchange in self._progress.exchanges:
            exchange.seal()
        self._over = on_done
        sessions = [exchange.sessions() for exchange in self._progress.exchanges]
        self._progress.control.to_all("join", round=self._round, sessions=sessions)
        self.on_join(self._progress.world.rank, self._round, sessions)
        self._progress.admission.end_all_steps()

    def on_join(self, rank, number, sessions):
        """A worker has joined after some number of sessions of each bucket."""
        self._orders[number].append(rank)
        if rank == self._progress.world.rank:
            return
        for exchange, counts in zip(self._progress.exchanges, sessions, strict=False):
            for bucket, (mine, its) in enumerate(zip(exchange.sessions(), counts, strict=False)):
                if mine > its:
                    self._notify(rank, exchange, bucket, mine)
                elif its > mine and self.waits:
                    exchange.participate(bucket, its)

    def note_session(self, exchange, bucket, count):
        """Notify joined workers of a session started here, the `count`-th of its bucket."""
        for rank in self.ranks:
            if rank != self._progress.world.rank:
                self._notify(rank, exchange, bucket, count)

    def _notify(self, rank, exchange, bucket, count):
        self._progress.control.to_one(
            rank, "session", exchange=exchange.number, bucket=bucket, count=count
        )

    def on_session(self, exchange, bucket, count):
        """A worker that has not joined has started a session."""
        if self.waits:
            self._progress.exchanges[exchange].participate(bucket, count)

    def step(self):
        """Finish when all workers have joined; return whether anything happened."""
        if self._over is None:
            return False
        gone = self._progress.control.left.keys() - set(self.ranks)
        if gone:
            self.fail(f"{self._progress.control.name(min(gone))} left the job")
            return True
        if len(self.ranks) < self._progress.world.size:
            return False
        if any(exchange.participates() for exchange in self._progress.exchanges):
            return False
        over, self._over = self._over, None
        self._orders.pop(self._round)
        self._round += 1
        over(None)
        return True

    def fail_waiting(self, text):
        """Fail this worker's join and forget others'."""
        self._orders.clear()
        self.fail(text)

    def fail(self, text):
        """Fail this worker's join."""
        over, self._over = self._over, None
        if over is not None:
            over(f"{text}, in join()")
