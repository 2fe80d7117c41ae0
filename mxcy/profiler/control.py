"""The functions of `mx.profiler`."""

import json
import warnings
import weakref

from mxcy._base.suggestions import no_attribute
from mxcy.base import MXNetError
from mxcy.profiler import tables
from mxcy.profiler.session import BITS, session

__all__ = [
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "set_config",
    "set_kvstore_handle",
    "set_state",
    "start",
    "stop",
]

_FORMATS = {"table": tables.as_table, "json": tables.as_json}
_STATES = {"run": True, "stop": False}
PROFILER = 5  # the command to servers, by MXNet's number
SERVER_CALLS = ("set_config", "set_state", "pause", "resume", "dump")


class _Servers:
    """Whose servers ``profile_process='server'`` means."""

    handle = None  # what `set_kvstore_handle` was called with
    latest = None  # a weak reference to the last store of several processes

    @classmethod
    def store(cls):
        """The key-value store, or None."""
        if cls.handle is not None or cls.latest is None:
            return cls.handle
        return cls.latest()


def note_store(store):
    """Mean the servers of a new store, unless the program says otherwise.

    Parameters
    ----------
    store : LocalStore
    """
    _Servers.latest = weakref.ref(store)


def __getattr__(name):
    if name == "profiler_kvstore_handle":
        return _Servers.store()
    raise no_attribute(__name__, name)


def set_kvstore_handle(handle):
    """Tell which key-value store ``profile_process='server'`` means: its ``handle``.

    Without a call it is the last one of several processes that was created.
    """
    _Servers.handle = getattr(handle, "handle", handle)


def _check(argument, value, choices):
    if value not in choices:
        raise MXNetError(
            f"profiler: {argument} must be one of {', '.join(map(repr, choices))}, got {value!r}"
        )


def _on_servers(profile_process, call, **arguments):
    """Whether servers are meant, who then have done it."""
    _check("profile_process", profile_process, ("worker", "server"))
    if profile_process == "worker":
        return False
    store = _Servers.store()
    if not getattr(store, "servers", 0):
        kind = getattr(store, "type", store)
        why = "none is in use" if store is None else f"that of kind {kind!r} has none"
        raise MXNetError(
            "profiler: profile_process='server' needs a key-value store with servers, which "
            f"'python -m mxcy.tools.launch -s N' starts, and {why}"
        )
    store.send_command(PROFILER, json.dumps({"call": call, "arguments": arguments}, default=str))
    return True


def set_config(**kwargs):
    """Choose what is recorded and where it is written; an existing output file is deleted.

    Parameters
    ----------
    filename : str, default 'profile.json'
        The trace. It is replaced as a whole, never half written.
    profile_all : bool, default False
        Everything below.
    profile_symbolic, profile_imperative, profile_api, profile_memory : bool, default True
        Operators of graphs, operators called one by one, calls of the interface, allocations.
    aggregate_stats : bool, default False
        Keep statistics for `dumps`.
    continuous_dump : bool, default True
        Write the file again and again while the profiler runs.
    dump_period : float, default 1.0
        Every so many seconds; less often if that took more than a tenth of the time.
    gpu_memory_profile_filename_prefix : str, default ''
        If not empty, `dump` writes the allocations that live to ``<prefix>-pid_<number>.csv``,
        those on CPUs as well.
    profile_process : {'worker', 'server'}
        The processes that are meant: this one, or all servers of the job, whose number N makes the
        name of each one's file ``rank<N>_<filename>``. See `set_kvstore_handle`.
    max_events : int, default 8000000
        The most events that wait in memory to be written; further ones are dropped and counted.

    Raises
    ------
    MXNetError
        For unknown options and values of the wrong type.
    """
    process = kwargs.pop("profile_process", "worker")
    if not _on_servers(process, "set_config", **kwargs):
        session.configure(kwargs)


def set_state(state="stop", profile_process="worker"):
    """Start or stop recording.

    Parameters
    ----------
    state : {'run', 'stop'}
    profile_process : {'worker', 'server'}
    """
    _check("state", state, _STATES)
    if not _on_servers(profile_process, "set_state", state=state):
        session.set_running(_STATES[state])


def start(profile_process="worker"):
    """``set_state('run')``."""
    set_state("run", profile_process)


def stop(profile_process="worker"):
    """``set_state('stop')``."""
    set_state("stop", profile_process)


def pause(profile_process="worker"):
    """Record nothing until `resume`."""
    if not _on_servers(profile_process, "pause"):
        session.set_paused(True)


def resume(profile_process="worker"):
    """Record again after `pause`."""
    if not _on_servers(profile_process, "resume"):
        session.set_paused(False)


def dump(finished=True, profile_process="worker"):
    """Write the trace to its file.

    Parameters
    ----------
    finished : bool
        Whether recording stops and the file is final. Otherwise later dumps write it again, with
        what came since.
    profile_process : {'worker', 'server'}

    Raises
    ------
    MXNetError
        When the profiler has not run since the last time, or the file cannot be written.
    """
    if not _on_servers(profile_process, "dump", finished=bool(finished)):
        session.dump(bool(finished))


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """The statistics as a text; ``""`` unless ``set_config(aggregate_stats=True)`` was called.

    Parameters
    ----------
    reset : bool
        Whether to start the statistics afresh.
    format : {'table', 'json'}
    sort_by : {'total', 'avg', 'min', 'max', 'count'}
        The order of the rows of each category.
    ascending : bool

    Returns
    -------
    str
    """
    _check("format", format, _FORMATS)
    _check("sort_by", sort_by, tables.SORT_KEYS)
    return session.statistics(reset, _FORMATS[format], sort_by, ascending)


# --- names of earlier versions ---


def _warn(old, new):
    warnings.warn(
        f"profiler.{old}() is deprecated. Please use profiler.{new}() instead", stacklevel=3
    )


def profiler_set_config(mode="symbolic", filename="profile.json"):
    """Old name of `set_config`: `mode` is symbolic, imperative, api, memory or all."""
    _warn("profiler_set_config", "set_config")
    modes = (*(name.removeprefix("profile_") for name in BITS), "all")
    _check("mode", mode, modes)
    wanted = {name: mode in ("all", name.removeprefix("profile_")) for name in BITS}
    set_config(filename=filename, **wanted)


def profiler_set_state(state="stop"):
    """Old name of `set_state`."""
    _warn("profiler_set_state", "set_state")
    set_state(state)


def dump_profile():
    """Old name of `dump`."""
    _warn("dump_profile", "dump")
    dump(True)
