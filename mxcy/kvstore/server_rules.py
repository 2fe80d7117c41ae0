"""Server-side handling of pushes and commands."""

import json
import os
import pickle

import numpy as np

from mxcy import profiler
from mxcy.base import MXNetError
from mxcy.kvstore.summed_rows import SummedRows, array_over
from mxcy.lr_scheduler import LRScheduler
from mxcy.ndarray._files import pickles
from mxcy.optimizer import Optimizer, get_updater
from mxcy.profiler.control import PROFILER, SERVER_CALLS
from mxcy.profiler.session import session

__all__ = ["ServerRules", "packed"]

OPTIMIZER = 0  # MXNet's number of this command
SETTINGS, STATES, NEW_STATES = -2, -3, -4  # commands of our own
_SILENT = (1, 2, 3, 4)  # MXNet's commands that are not needed here


def packed(optimizer):
    """Pickle an optimizer, with the multipliers of its parameters.

    Parameters
    ----------
    optimizer : Optimizer

    Returns
    -------
    numpy.ndarray of uint8
    """
    state = optimizer.__getstate__()
    copy = type(optimizer).__new__(type(optimizer))
    copy.__dict__.update(state, param_dict={})
    for name in ("lr_mult", "wd_mult"):
        own = {index: getattr(parameter, name) for index, parameter in optimizer.param_dict.items()}
        setattr(copy, name, {**state[name], **own})
    return np.frombuffer(pickle.dumps(copy), np.uint8)


class ServerRules:
    """The optimizers of the stores with values on a server.

    Parameters
    ----------
    number : int
        Number of the server.
    """

    def __init__(self, number):
        self._number = number
        self._updaters = {}  # by store
        self._current = {}  # by store, for updaters that may change
        self._weights = {}  # by share

    def set_updater(self, store, updater):
        """Set the updater function of a store."""
        self._updaters[store] = updater

    def follow(self, store, current):
        """Use the updater function that ``current()`` returns, if any, for a store."""
        self._current[store] = current

    def updates(self, store):
        """Whether a store has an updater function."""
        return self._updater(store) is not None

    def _updater(self, store):
        follows = self._current.get(store)
        return self._updaters.get(store) if follows is None else follows()

    def apply(self, store, share, total):
        """Update a share with a pushed sum.

        Parameters
        ----------
        store : int
        share : Share
        total : numpy.ndarray

        Returns
        -------
        bool
            False if the sum itself becomes the value.
        """
        updater = self._updater(store)
        if updater is None:
            if share.waits:
                return False
            raise MXNetError("there is no optimizer; call set_optimizer before the first push")
        weight = self._weight(share)
        updater(share.key, _gradient(total, share), weight)
        weight.wait_to_read()
        if weight.address != share.value.ctypes.data:
            share.value[...] = weight.astype(share.value.dtype.name).asnumpy()
        return True

    def _weight(self, share):
        """A share's value as an array: its memory, or of another type."""
        value, (memory, weight) = share.value, self._weights.get(share, (None, None))
        if memory is not value and (weight is None or share.weight == value.dtype.name):
            weight = array_over(value).astype(share.weight, copy=False)
            self._weights[share] = value, weight
        return weight

    def command(self, store, head, text, body):
        """Execute a worker's command.

        Parameters
        ----------
        store : int
        head : int
            The command.
        text : str
        body : numpy.ndarray of uint8

        Returns
        -------
        numpy.ndarray or None
        """
        if head == OPTIMIZER:
            self._set_optimizer(store, body.tobytes() or text.encode("latin-1"))
        elif head == SETTINGS:
            self._settings(store, json.loads(text))
        elif head == STATES:
            return np.frombuffer(self._updaters[store].get_states(text == "optimizer"), np.uint8)
        elif head == NEW_STATES:
            self._updaters[store].set_states(body.tobytes())
        elif head == PROFILER:
            self._profile(**json.loads(text))
        elif head not in _SILENT:
            print(f"server {self._number}, unknown command ({head}, {text})", flush=True)
        return None

    def _set_optimizer(self, store, content):
        optimizer = pickles.loads(content, (Optimizer, LRScheduler), "the optimizer")
        if not isinstance(optimizer, Optimizer):
            raise MXNetError(f"expected an optimizer, got {type(optimizer).__name__}")
        before = self._updaters.get(store)
        updater = self._updaters[store] = get_updater(optimizer)
        if type(getattr(before, "optimizer", None)) is type(optimizer):
            updater.states, updater.states_synced = before.states, before.states_synced

    def _profile(self, call, arguments):
        """Call a function of the profiler; records are readable after a stop."""
        if call not in SERVER_CALLS:
            raise MXNetError(f"the profiler: {call!r} must be one of {', '.join(SERVER_CALLS)}")
        if call == "set_config":
            folder, name = os.path.split(arguments.get("filename", "profile.json"))
            arguments["filename"] = os.path.join(folder, f"rank{self._number}_{name}")
        getattr(profiler, call)(**arguments)
        if call == "set_state" and arguments.get("state") == "stop":
            session.publish()

    def _settings(self, store, changed):
        optimizer = self._updaters[store].optimizer
        for name, value in changed["settings"].items():
            setattr(optimizer, name, value)
        for name, value in changed["scheduler"].items():
            setattr(optimizer.lr_scheduler, name, value)


def _gradient(total, share):
    """Convert a sum to an array, or a row_sparse array of the rows present."""
    if isinstance(total, np.ndarray):
        return array_over(total).astype(share.weight, copy=False)
    return SummedRows(total, share.weight, share.value.shape).array()
