"""Run many ranks as threads of one process, without MPI."""

import threading
import time

import numpy as np

from mxcy.dist.keys.pushes import BucketPush, KeyArrays
from mxcy.dist.progress import ProgressThread
from mxcy.dist.worlds.memory_world import MemoryJob

__all__ = ["Rank", "run"]


class Rank:
    """A worker with one exchange.

    Attributes
    ----------
    values : dict
        Delivered sums of each key, in order.
    summed_by : int
        The thread on which the last `push_bucket` ended.
    """

    def __init__(self, open_world, bound, patience, way=None, least=None, folder=None):
        self.progress = ProgressThread(open_world, patience, min_workers=least, folder=folder)
        world = self.progress.world
        self.rank, self.size = world.rank, world.size
        self.exchange = self.progress.new_exchange(bound, way and way(world))
        self.exchange.state_source = self
        self.slots, self.values = {}, {}
        for slot in self.exchange.slots:  # of the job it joined
            self._keep(slot)

    def init(self, **arrays):
        """Initialize keys and return their common values."""
        entries = [(key, np.array(array)) for key, array in arrays.items()]
        for slot in self.exchange.init(entries, [None] * len(entries)):
            self._keep(slot)
        return [array for _, array in entries]

    def _keep(self, slot):
        sums = self.values[slot.key] = []
        self.slots[slot.key] = slot
        slot.deliver = lambda total, lease: sums.append(total.copy())

    def end_step(self):
        """Let others join; returns the number of completed steps."""
        self.progress.admission.end_step(self.exchange.number)
        return self.steps

    @property
    def steps(self):
        """int: the number of completed steps."""
        return self.progress.admission.steps.get(self.exchange.number, 0)

    # -- state of a new rank: only the keys

    def obstacle(self):
        return None

    def spread(self, world):
        pass

    def snapshot(self):
        return {}

    def push(self, key, array):
        """Push an array, which may be changed afterwards."""
        slot, membership = self.slots[key], self.progress.membership
        with membership.lock:
            membership.begin(slot.submitted + (slot.bucket.rounds.submitted if slot.bucket else 0))
            slot.submitted += 1
        self.exchange.push(self.slots[key], np.array(array), lambda: None)

    def push_bucket(self, key, arrays, here=False, early=False):
        """Push to all keys of a key's bucket at once and wait for all sums.

        Parameters
        ----------
        key : str
        arrays : dict
            By key.
        here : bool
            See `Exchange.push_bucket`.
        early : bool
            Whether sums may be taken from memory that the ranks share before they are delivered.

        Returns
        -------
        dict
            The sums, even if they arrived one by one.
        """
        bucket = self.slots[key].bucket
        over, answers = threading.Event(), []
        received = np.empty(bucket.length, bucket.dtype)
        values = {
            slot.key: np.ravel(arrays[slot.key]).astype(bucket.dtype) for slot in bucket.slots
        }
        starts = np.array([*(slot.span.start for slot in bucket.slots), bucket.length])

        def fill(buffer):
            for slot in bucket.slots:
                buffer[slot.span] = values[slot.key]

        def key_arrays():
            sources = np.array([value.ctypes.data for value in values.values()])
            targets = received.ctypes.data + starts[:-1] * received.itemsize
            return KeyArrays(starts, sources, targets if early else None, (values, received))

        def told(error, sums, lease, taken):
            if sums is not None:
                total = received if taken else sums
                for slot in bucket.slots:
                    self.values[slot.key].append(total[slot.span].reshape(slot.shape).copy())
            answers.append(error)
            self.summed_by = threading.get_ident()
            over.set()

        bucket.rounds.submitted += 1
        alone = values[key] if len(bucket.slots) == 1 else None
        push = BucketPush(fill, alone, told, time.monotonic(), key_arrays)
        self.exchange.push_bucket(bucket, lambda: push, here=here)
        assert over.wait(60)
        if answers[0]:
            raise RuntimeError(answers[0])
        return {slot.key: self.values[slot.key][-1] for slot in bucket.slots}

    def die(self):
        """Stop as if the process were killed."""
        self.progress.world.job.die(self.progress.world.place)

    def pull(self, key):
        """Wait for all sums that this rank has pushed to; returns the last one."""
        over, errors = threading.Event(), []

        def told(error):
            errors.append(error)
            over.set()

        self.exchange.pull(self.slots[key], told)
        assert over.wait(60)
        if errors[0]:
            raise RuntimeError(errors[0])
        return self.values[key][-1] if self.values[key] else None


def run(
    size,
    program,
    bound=4096,
    seed=None,
    patience=0,
    way=None,
    per_host=None,
    least=None,
    folder=None,
    area=None,
):
    """Run a program on each rank and close all ranks.

    Parameters
    ----------
    size : int
    program : callable
        ``program(rank)``.
    bound : int
        Bytes of a bucket.
    seed : int, optional
        Seed of random delays.
    patience : float
        See `ProgressThread`.
    way : callable, optional
        ``way(world)``: the reduction algorithm; see `Exchange`.
    per_host : int, optional
        How many ranks share a machine; all by default.
    least : int, optional
        With how many ranks the others go on when one dies.
    folder : path, optional
        Where requests to join lie.
    area : int, optional
        Bytes of memory that all ranks share, see `MemoryJob`.

    Returns
    -------
    list
        What the programs returned, or the exceptions that they raised; of ranks that have joined
        after those of the others, in any order.
    """
    results = [None] * size
    job = MemoryJob(size, seed, per_host=per_host, area=area)

    def live(number, open_world):
        rank = Rank(open_world, bound, patience, way, least, folder)
        try:
            results[number] = program(rank)
        except Exception as error:
            results[number] = error
        rank.progress.close()

    def start(number, open_world):
        thread = threading.Thread(target=live, args=(number, open_world), daemon=True)
        threads.append(thread)
        thread.start()

    def join(*terms):
        results.append(None)
        start(len(results) - 1, lambda: job.join(*terms))

    job.start, threads = join, []
    for number in range(size):
        start(number, lambda number=number: job.worlds[number])
    for thread in threads:  # which get more meanwhile
        thread.join(60)
        assert not thread.is_alive(), "a rank hangs"
    return results
