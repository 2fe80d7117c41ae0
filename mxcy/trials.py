"""What trials of algorithms found out on this machine, kept in a file under MXNET_HOME.

The file holds one dict for each machine signature: the kernels' ISA level, the number of threads
and the version of mxcy. A file that cannot be read or written is ignored.
"""

import json
import os
import threading

from mxcy import _front, env, forks
from mxcy.files import replacing

__all__ = ["memory", "save"]

_lock = forks.guard(threading.Lock())
_read: dict = {}  # path -> the file's contents
_saved: dict = {}  # path -> how many entries were saved


def _path():
    return os.path.join(env.get("MXNET_HOME"), "mxcy", "algorithms.json")


def _signature():
    return f"4/{_front.block()}/{env.omp_threads()}"


def memory():
    """The dict of this machine, to be read and added to."""
    path = _path()
    with _lock:
        if path not in _read:
            try:
                with open(path, encoding="utf-8") as file:
                    found = json.load(file)
            except (OSError, ValueError):
                found = {}
            _read[path] = found if isinstance(found, dict) else {}
            _saved[path] = sum(map(len, _read[path].values()))
        return _read[path].setdefault(_signature(), {})


def save():
    """Write what was added since."""
    path = _path()
    with _lock:
        contents = _read.get(path)
        count = sum(map(len, contents.values())) if contents else 0
        if count == _saved.get(path, 0):
            return
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with replacing(path) as file:
                file.write(json.dumps(contents).encode())
        except OSError:
            return  # a home that cannot be written only means that trials are repeated
        _saved[path] = count
