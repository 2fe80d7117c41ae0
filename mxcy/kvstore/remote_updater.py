"""Workers' proxies of optimizers that run on servers."""

import json
import pickle

import numpy as np

from mxcy import ndarray as nd
from mxcy.kvstore.optimizer_settings import settings_of
from mxcy.kvstore.server_rules import NEW_STATES, OPTIMIZER, SETTINGS, STATES, packed
from mxcy.ndarray import NDArray
from mxcy.optimizer import state_files

__all__ = ["HostedUpdater", "RemoteUpdater"]


class HostedUpdater:
    """An updater function run by the server thread of this process."""

    def __init__(self, function):
        self.function = function

    def send_changes(self):
        """Do nothing: the function is local."""


class RemoteUpdater:
    """Proxy of the optimizer that servers run.

    Parameters
    ----------
    clients : list of KeyClient
        Clients of dense and of row_sparse values, if there are any.
    rank : int
        Rank of this worker; the first one sends changes to servers.
    optimizer : Optimizer
    """

    def __init__(self, clients, rank, optimizer):
        self._clients, self._rank, self.optimizer = clients, rank, optimizer
        self._sent = settings_of(optimizer)

    def take_over(self, client):
        """Also update the values of another client; all workers call it."""
        client.command(OPTIMIZER, "", "init", packed(self.optimizer))
        self._clients.append(client)

    def send_changes(self):
        """Send settings changed by the first worker's program to the servers."""
        if self._rank != 0:
            return
        settings = settings_of(self.optimizer)
        if settings == self._sent:
            return
        scheduler, before = settings.get("scheduler"), self._sent.get("scheduler")
        changed = {
            "settings": _changed(settings["settings"], self._sent["settings"]),
            "scheduler": _changed(scheduler[1], before[1]) if scheduler and before else {},
        }
        for client in self._clients:
            client.note(SETTINGS, json.dumps(changed))
        self._sent = settings

    def get_states(self, dump_optimizer=False):
        """Gather all servers' states as bytes; see `Updater.get_states`."""
        text = "optimizer" if dump_optimizer else ""
        states, optimizer = {}, None
        for client in self._clients:
            contents = client.command(STATES, text, "states of the optimizer", first=False)
            loaded = [state_files.loads(content.tobytes()) for content in contents]
            optimizer = optimizer or loaded[0][1]
            for key, served in client.keys.items():
                parts = [own[key] for own, _ in loaded if key in own]
                if parts:
                    states[key] = _joined(parts, served)
        return pickle.dumps((states, optimizer) if dump_optimizer else states)

    def set_states(self, content):
        """Send states to the servers; all workers call it. See `Updater.set_states`."""
        states, optimizer = state_files.loads(content)
        for client in self._clients:
            bodies = []
            for server in range(len(client.places)):
                own = _of_server(client, server, states)
                pickled = pickle.dumps(own if optimizer is None else (own, optimizer))
                bodies.append(np.frombuffer(pickled, np.uint8))
            client.command(NEW_STATES, "", "states of the optimizer", bodies)
        if optimizer is not None:
            self.optimizer = optimizer
            self._sent = settings_of(optimizer)


def _changed(settings, before):
    return {name: value for name, value in settings.items() if before.get(name, settings) != value}


def _joined(states, served):
    """Combine the states of a key's parts; anything but arrays of parts is the first part's."""
    first = states[0]
    if isinstance(first, tuple | list):
        return type(first)(_joined(list(parts), served) for parts in zip(*states, strict=True))
    if len(served.shares) == 1 or not isinstance(first, NDArray):
        return first
    length = served.shares[0][3]
    if served.by_rows and first.shape == (length, *served.shape[1:]):
        joined = np.empty(served.shape, first.dtype)
        for i, state in enumerate(states):
            joined[i :: len(states)] = state.asnumpy()
        return nd.array(joined, dtype=joined.dtype)
    if not served.by_rows and first.shape == (length,):
        return nd.concat(*states, dim=0).reshape(served.shape)
    return first


def _of_server(client, server, states):
    """The parts of states for the values that a server holds, by key."""
    own = {}
    for key, state in states.items():
        served = client.keys.get(key)
        for _, place, begin, length in served.shares if served else ():
            if place == server:
                own[key] = _part(state, served, begin, length)
    return own


def _part(state, served, begin, length):
    """The part of a key's state."""
    if isinstance(state, tuple | list):
        return type(state)(_part(part, served, begin, length) for part in state)
    if served.by_rows and isinstance(state, NDArray) and state.shape == served.shape:
        return nd.array(state.asnumpy()[begin :: len(served.shares)], dtype=state.dtype)
    if len(served.shares) > 1 and isinstance(state, NDArray) and state.shape == served.shape:
        return state.reshape((-1,))[begin : begin + length].copy()
    return state
