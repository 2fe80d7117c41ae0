"""Results of algorithm trials on this machine, stored in a file under MXNET_HOME.

The file holds a dict per machine signature: revision of the kernels, ISA level and number of
threads. It maps each problem to the winner: the kernel's name and its algorithm number.
"""

import os
import threading
from typing import Any

from mxcy import env
from mxcy._base import cache_files
from mxcy._base.fork_safety import free_in_child
from mxcy._library import front

__all__ = ["memory", "save"]

_lock = free_in_child(threading.Lock())
_read: dict = {}  # path -> the file's contents
_saved: dict = {}  # path -> number of saved entries


def _path() -> str:
    return os.path.join(env.get("MXNET_HOME"), "mxcy", "algorithms.json")


_REVISION = 11  # grows when kernels change so much that trials must be made anew


def _signature() -> str:
    return f"{_REVISION}/{front.block()}/{env.omp_threads()}"


def memory() -> dict[str, Any]:
    """The mutable dict of this machine."""
    path = _path()
    with _lock:
        if path not in _read:
            _read[path], usable = cache_files.read(path, _well_formed)
            _saved[path] = _count(_read[path]) if usable else -1
        return _read[path].setdefault(_signature(), {})


def save() -> None:
    """Write new entries to the file, beside those that other processes have written meanwhile."""
    path = _path()
    with _lock:
        contents = _read.get(path, {})
        if _count(contents) == _saved.get(path, 0):
            return
        for signature, others in cache_files.read(path, _well_formed)[0].items():
            own = contents.setdefault(signature, {})
            for problem, winner in others.items():
                own.setdefault(problem, winner)
        if cache_files.write(path, contents):
            _saved[path] = _count(contents)


def _count(contents: dict[str, Any]) -> int:
    return sum(map(len, contents.values()))


def _well_formed(contents: Any) -> bool:
    """Whether the contents have the expected structure."""
    machines = list(contents.values())
    return all(isinstance(machine, dict) for machine in machines) and all(
        isinstance(won, list) and [type(part) for part in won] == [str, int]
        for machine in machines
        for won in machine.values()
    )
