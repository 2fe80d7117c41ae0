"""`mx.profiler`: execution traces for Perfetto, and statistics.

>>> mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="profile.json")
>>> mx.profiler.set_state("run")
>>> ...
>>> mx.profiler.set_state("stop")
>>> print(mx.profiler.dumps())
>>> mx.profiler.dump()

`session` has configuration and state, `trace` writes the file, `tables` the statistics, `memory`
the list of allocations, and `objects` are annotations for programs. The native library records the
events (``kernels/core/profile/profiler.cc``).
"""

from mxcy._base import older_paths
from mxcy._base.listing import listing
from mxcy.profiler.control import (
    dump,
    dump_profile,
    dumps,
    pause,
    profiler_set_config,
    profiler_set_state,
    resume,
    set_config,
    set_kvstore_handle,
    set_state,
    start,
    stop,
)
from mxcy.profiler.objects import Counter, Domain, Event, Frame, Marker, Task
from mxcy.profiler.scopes import scope

__all__ = [
    "Counter",
    "Domain",
    "Event",
    "Frame",
    "Marker",
    "Task",
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "scope",
    "set_config",
    "set_kvstore_handle",
    "set_state",
    "start",
    "stop",
]

# the most recently set store
__getattr__ = older_paths.offer(__name__, "mxcy.profiler.control", ("profiler_kvstore_handle",))
__dir__ = listing(__name__)
