"""OpenMP settings of the team, including its CPU binding, and thread pools of other libraries.

The OpenMP runtime reads its settings when loaded: `runtime_settings` computes the environment
variables for it, and `check_runtimes` warns if the process has more than one runtime.
"""

import ctypes
import os
import re
import sys
import warnings
from typing import Any, ClassVar

from mxcy import env
from mxcy._base import cpus
from mxcy._machine import affinity

__all__ = [
    "check_runtimes",
    "free_others",
    "limit_pools",
    "openmp_runtimes",
    "pools",
    "runtime_settings",
]

_SPINS = "10000"
_RUNTIME = re.compile(r"lib(?:[gi]?omp5?)\b[^/]*\.so")


class _Known:
    """The libraries with thread pools, as of the last search."""

    controller: Any = None
    modules = 0  # number of modules imported then
    threads: ClassVar[dict[str, int]] = {}  # library -> the size of its pool when first seen


def runtime_settings(threads: int) -> dict[str, str]:
    """The environment variables to add before the OpenMP runtime is loaded.

    Unless the user chose a wait policy, threads spin only briefly: the default, milliseconds, takes
    CPU time from the threads they wait for, and made networks five times slower on a busy machine.
    KMP_AFFINITY is translated to a list of places.

    Parameters
    ----------
    threads : int
        The size of the team.
    """
    settings = {}
    if not env.is_set("OMP_WAIT_POLICY") and not env.is_set("GOMP_SPINCOUNT"):
        settings["GOMP_SPINCOUNT"] = _SPINS
    places = _bound_places(threads)
    if places:
        settings["OMP_PLACES"] = ",".join(f"{{{','.join(map(str, place))}}}" for place in places)
        settings["OMP_PROC_BIND"] = "close"
    if places or any(map(env.is_set, ("OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"))):
        cpus.keep_mask()
    return settings


def _bound_places(threads: int) -> list[list[int]]:
    """The places that KMP_AFFINITY selects; empty if it does not bind or is overridden."""
    text = env.get("KMP_AFFINITY")
    if not text or any(map(env.is_set, ("OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"))):
        return []
    try:
        wanted = affinity.parse(text)
    except ValueError as error:
        warnings.warn(
            f"KMP_AFFINITY={text}: {error} is not understood, no thread is bound", stacklevel=2
        )
        return []
    places = wanted.places(cpus.topology(), threads) if wanted.binds else []
    if wanted.binds and not places:
        warnings.warn(
            f"KMP_AFFINITY={text}: none of these CPUs is available here, no thread is bound",
            stacklevel=2,
        )
    if places and any("gomp" in os.path.basename(path) for path in openmp_runtimes()):
        warnings.warn(
            f"KMP_AFFINITY={text} has no effect: another library has loaded the OpenMP runtime "
            "before mxcy; import mxcy first, or set OMP_PLACES and OMP_PROC_BIND",
            stacklevel=2,
        )
        return []
    if wanted.verbose:
        for i, place in enumerate(places):
            print(f"mxcy KMP_AFFINITY: thread {i} -> CPUs {place}", file=sys.stderr)
    return places


def free_others(library: ctypes.CDLL) -> None:
    """Restore the affinity mask for threads outside the team, after loading the runtime.

    The engine's workers and forked processes may then use all CPUs of this process.

    Parameters
    ----------
    library : ctypes.CDLL
        The native library.
    """
    everything = sorted(cpus.mask())
    if set(everything) == os.sched_getaffinity(0):
        return
    os.register_at_fork(after_in_child=lambda: os.sched_setaffinity(0, everything))
    library.mx_keep_cpus((ctypes.c_int32 * len(everything))(*everything), len(everything))


# --- other libraries -----------------------------------------------------------------------------


def openmp_runtimes(root: str = "/") -> list[str]:
    """The OpenMP runtimes loaded in this process."""
    with open(os.path.join(root, "proc/self/maps"), encoding="utf-8", errors="replace") as file:
        paths = {line.rstrip("\n").partition("/")[2] for line in file if "omp" in line}
    return sorted(f"/{path}" for path in paths if _RUNTIME.match(os.path.basename(path)))


def check_runtimes() -> None:
    """Warn if this process has several OpenMP runtimes, each with its own threads."""
    runtimes = openmp_runtimes()
    if len(runtimes) > 1:
        warnings.warn(
            f"{len(runtimes)} OpenMP runtimes are loaded, whose teams compete for the CPUs: "
            f"{', '.join(runtimes)}",
            stacklevel=2,
        )


def _libraries() -> list[Any]:
    """The controllers of the BLAS and OpenMP libraries in this process.

    The search is repeated only after new modules were imported.
    """
    import threadpoolctl  # takes milliseconds and is rarely needed

    if _Known.controller is None or _Known.modules != len(sys.modules):
        _Known.controller = threadpoolctl.ThreadpoolController()
        _Known.modules = len(sys.modules)
        for library in _Known.controller.lib_controllers:
            _Known.threads.setdefault(library.filepath, library.num_threads)
    return list(_Known.controller.lib_controllers)


def limit_pools(threads: int) -> None:
    """Limit the thread pools of all BLAS and OpenMP libraries in this process.

    Pools that were smaller when first seen keep their size.
    """
    for library in _libraries():
        wanted = min(threads, _Known.threads[library.filepath])
        if library.num_threads != wanted:
            library.set_num_threads(wanted)
            # threadpoolctl >= 3.8 requires this before other threads may change OpenBLAS.
            getattr(library, "clear_controlling_thread", bool)()


def pools() -> list[dict[str, Any]]:
    """The BLAS and OpenMP libraries and their thread counts, from threadpoolctl."""
    return [library.info() for library in _libraries()]
