"""The functions of `mx.profiler`."""

import json
import warnings
import weakref

from mxcy._base.errors import UnknownChoiceError
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
PROFILER = 5  # MXNet's command code for servers
SERVER_CALLS = ("set_config", "set_state", "pause", "resume", "dump")


class _Servers:
    """The store whose servers ``profile_process='server'`` refers to."""

    handle = None  # argument of `set_kvstore_handle`
    latest = None  # weak reference to the last distributed store

    @classmethod
    def store(cls):
        """The key-value store, or None."""
        if cls.handle is not None or cls.latest is None:
            return cls.handle
        return cls.latest()


def note_store(store):
    """Refer to the servers of a new store, unless the program chose another.

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
    """Set the key-value store for ``profile_process='server'``, by its ``handle``.

    The default is the most recently created distributed store.
    """
    _Servers.handle = getattr(handle, "handle", handle)


def _check(argument, value, choices):
    if value not in choices:
        raise UnknownChoiceError(
            f"profiler: {argument} must be one of {', '.join(map(repr, choices))}, got {value!r}"
        )


def _on_servers(profile_process, call, **arguments):
    """Forward a command if it is for servers; return whether it was."""
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
    """Configure recording and output; an existing output file is deleted.

    Parameters
    ----------
    filename : str, default 'profile.json'
        Path of the trace, which is replaced atomically.
    profile_all : bool, default False
        Whether to record all of the following.
    profile_symbolic, profile_imperative, profile_api, profile_memory : bool, default True
        Whether to record operators in graphs, eager operators, API calls, allocations.
    aggregate_stats : bool, default False
        Whether to keep statistics for `dumps`.
    continuous_dump : bool, default True
        Whether to update the file periodically while the profiler runs.
    dump_period : float, default 1.0
        Update interval in seconds; increased if updates take more than a tenth of the time.
    gpu_memory_profile_filename_prefix : str, default ''
        If not empty, `dump` writes the live allocations, also those on CPUs, to
        ``<prefix>-pid_<number>.csv``.
    profile_process : {'worker', 'server'}
        The processes to configure: this one, or all servers of the job, whose files are
        ``rank<N>_<filename>`` with the server's number N. See `set_kvstore_handle`.
    max_events : int, default 8000000
        Maximum number of unwritten events; further ones are dropped and counted.

    Raises
    ------
    MXNetError
        If an option is unknown or a value has the wrong type.
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
    """Suspend recording until `resume`."""
    if not _on_servers(profile_process, "pause"):
        session.set_paused(True)


def resume(profile_process="worker"):
    """Resume recording after `pause`."""
    if not _on_servers(profile_process, "resume"):
        session.set_paused(False)


def dump(finished=True, profile_process="worker"):
    """Write the trace to its file.

    Parameters
    ----------
    finished : bool
        Whether to stop recording and finalize the file. Otherwise later dumps extend it.
    profile_process : {'worker', 'server'}

    Raises
    ------
    MXNetError
        If the profiler has not run since the last dump, or the file cannot be written.
    """
    if not _on_servers(profile_process, "dump", finished=bool(finished)):
        session.dump(bool(finished))


def dumps(reset=False, format="table", sort_by="total", ascending=False):
    """Return the statistics as str; ``""`` without ``set_config(aggregate_stats=True)``.

    Parameters
    ----------
    reset : bool
        Whether to reset the statistics.
    format : {'table', 'json'}
    sort_by : {'total', 'avg', 'min', 'max', 'count'}
        The sort key of rows within each category.
    ascending : bool

    Returns
    -------
    str
    """
    _check("format", format, _FORMATS)
    _check("sort_by", sort_by, tables.SORT_KEYS)
    _check("ascending", ascending, (False, True))
    _check("reset", reset, (False, True))
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
