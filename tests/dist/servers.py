"""Run servers and workers as threads of one process, without MPI."""

import threading

import numpy as np

from mxcy.dist.progress import ProgressThread
from mxcy.dist.servers.key_client import KeyClient
from mxcy.dist.worlds.memory_world import MemoryJob
from mxcy.kvstore.kvstore_server import run as serve

__all__ = ["Worker", "run"]


class Worker:
    """A worker with a served store."""

    def __init__(self, world, waits, bound, most, patience):
        self.rank = world.rank
        self.progress = ProgressThread(lambda: world, patience)
        self.client = KeyClient(self.progress, waits, bound, most)

    def init(self, **arrays):
        """Initialize keys."""
        entries = [(key, np.array(array)) for key, array in arrays.items()]
        self.client.init(entries, [array.dtype.name for _, array in entries])

    def push(self, key, array, priority=0):
        """Push and wait until the array has been sent."""
        over = threading.Event()
        self.client.push(self.client.keys[key], np.array(array), over.set, priority)
        assert over.wait(60)

    def pull(self, key):
        """A key's value."""
        served = self.client.keys[key]
        target, over, errors = np.empty(served.shape, served.dtype), threading.Event(), []

        def told(error):
            errors.append(error)
            over.set()

        self.client.pull(served, target, told)
        assert over.wait(60)
        if errors[0]:
            raise RuntimeError(errors[0])
        return target


def run(size, servers, program, waits=True, bound=100, most=None, seed=None, patience=0):
    """Run a program on each worker, with servers; returns their results or errors."""
    results, job = [None] * size, MemoryJob(size, seed, servers)

    def live(number):
        worker = Worker(job.worlds[number], waits, bound, most, patience)
        try:
            results[number] = program(worker)
        except Exception as error:
            results[number] = error
        worker.progress.close()

    threads = [threading.Thread(target=live, args=(i,), daemon=True) for i in range(size)]
    threads += [
        threading.Thread(target=serve, args=(world, patience), daemon=True) for world in job.servers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a process hangs"
    return results
