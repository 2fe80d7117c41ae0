"""Optimizers that run on servers, as a worker sees them."""

import json
import pickle

import numpy as np

from mxcy import ndarray as nd
from mxcy.kvstore.optimizer_terms import terms_of
from mxcy.kvstore.server_rules import NEW_STATES, SETTINGS, STATES
from mxcy.ndarray import NDArray
from mxcy.optimizer import state_files

__all__ = ["HostedUpdater", "RemoteUpdater"]


class HostedUpdater:
    """A function of this process that its server runs."""

    def __init__(self, function):
        self.function = function

    def tell_changes(self):
        """Nothing: the function is here."""


class RemoteUpdater:
    """The optimizer that servers run.

    Parameters
    ----------
    client : KeyClient
    rank : int
        Of this worker: the first one tells servers of changes.
    optimizer : Optimizer
    """

    def __init__(self, client, rank, optimizer):
        self._client, self._rank, self.optimizer = client, rank, optimizer
        self._told = terms_of(optimizer)

    def tell_changes(self):
        """Tell servers of settings that the first worker's program has changed."""
        if self._rank != 0:
            return
        terms = terms_of(self.optimizer)
        if terms == self._told:
            return
        scheduler, before = terms.get("scheduler"), self._told.get("scheduler")
        changed = {
            "settings": _changed(terms["settings"], self._told["settings"]),
            "scheduler": _changed(scheduler[1], before[1]) if scheduler and before else {},
        }
        self._client.note(SETTINGS, json.dumps(changed))
        self._told = terms

    def get_states(self, dump_optimizer=False):
        """All servers' states together, as bytes; see `Updater.get_states`."""
        text = "optimizer" if dump_optimizer else ""
        contents = self._client.command(STATES, text, "states of the optimizer", first=False)
        told = [state_files.loads(content.tobytes()) for content in contents]
        states = {
            key: _joined([own[key] for own, _ in told if key in own], served)
            for key, served in self._client.keys.items()
            if any(key in own for own, _ in told)
        }
        return pickle.dumps((states, told[0][1]) if dump_optimizer else states)

    def set_states(self, content):
        """Give servers states; all workers call it. See `Updater.set_states`."""
        states, optimizer = state_files.loads(content)
        bodies = []
        for server in range(len(self._client.places)):
            own = {}
            for key, state in states.items():
                served = self._client.keys.get(key)
                for _, place, begin, length in served.shares if served else ():
                    if place == server:
                        own[key] = _part(state, served, begin, length)
            told = own if optimizer is None else (own, optimizer)
            bodies.append(np.frombuffer(pickle.dumps(told), np.uint8))
        self._client.command(NEW_STATES, "", "states of the optimizer", bodies)
        if optimizer is not None:
            self.optimizer = optimizer
            self._told = terms_of(optimizer)


def _changed(terms, before):
    return {name: value for name, value in terms.items() if before.get(name, terms) != value}


def _joined(states, served):
    """The state of a key from those of its parts; what is no array of a part is the first's."""
    first = states[0]
    if isinstance(first, tuple | list):
        return type(first)(_joined(list(parts), served) for parts in zip(*states, strict=True))
    if (
        len(served.shares) > 1
        and isinstance(first, NDArray)
        and first.shape == served.shares[0][3:]
    ):
        return nd.concat(*states, dim=0).reshape(served.shape)
    return first


def _part(state, served, begin, length):
    """What a part has of the state of its key."""
    if isinstance(state, tuple | list):
        return type(state)(_part(one, served, begin, length) for one in state)
    if len(served.shares) > 1 and isinstance(state, NDArray) and state.shape == served.shape:
        return state.reshape((-1,))[begin : begin + length].copy()
    return state
