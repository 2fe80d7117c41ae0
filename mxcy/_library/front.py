"""The choice of the front, made only here: `mxcy._cy` (Cython) or `mxcy._ctypes`.

MXNET_ENABLE_CYTHON=0 selects ctypes. Otherwise a missing or broken Cython build falls back to
ctypes with one warning (none if the wheel contains only ctypes), or raises if
MXNET_ENFORCE_CYTHON=1. The names below are the fronts' interface; nothing else in mxcy imports
either of them.
"""

import atexit
import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mxcy import env
from mxcy._base import cpus
from mxcy._library import onednn
from mxcy._library.open import open_library
from mxcy._library.services import Services
from mxcy._machine import threads, tuning
from mxcy.libinfo import find_lib_path

#: module of a front -> names it exports
NAMES = {
    "ndarray": ("NDArrayBase",),
    "creation": ("detach_parts", "empty", "from_memory", "from_numpy", "make_sparse"),
    "native": (
        "block",
        "flush_denormals",
        "has_kernel",
        "initialise",
        "measure",
        "query",
        "race",
        "region_time",
        "second_cache",
        "set_threads",
        "threads",
    ),
    "variants": ("bind",),
    "invoke": ("call", "record_view"),
    "execution": ("execute",),
    "functions": ("function", "numpy_function"),
    "arithmetic": ("numpy_arithmetic", "numpy_operator", "set_operators", "use_numpy"),
    "shortcuts": ("shortcut",),
    "services": ("use_services",),
    "modes": (
        "has_numpy_types",
        "is_deferred",
        "is_np_shape",
        "is_recording",
        "is_taping",
        "is_training",
        "set_casting",
        "set_deferred",
        "set_np_shape",
        "set_numpy_types",
        "set_recording",
        "set_training",
    ),
    "tape": ("Node", "history", "take_over"),
    "walk": ("tape_order", "walk"),
    "bases": ("Bases", "Kept", "Watch"),
    "plan": ("Plan", "any_failed"),
    "pool": ("Pool", "host_memory"),
    "profiler": ("recorder",),
    "streams": ("Streams",),
    "engine": (
        "Var",
        "allow_bulk",
        "configure_engine",
        "engine_stats",
        "push",
        "set_bulk_size",
        "start_engine",
        "stop_engine",
    ),
    "pending": ("run_ahead", "set_soon", "settle_all", "unfinished", "wait_all"),
    "uses": ("held", "set_heavy_work"),
}


def load(package: str) -> dict[str, Any]:
    """Import a front and return its names as a dict.

    Parameters
    ----------
    package : str
        ``'_cy'`` or ``'_ctypes'``.
    """
    modules = {module: import_module(f"mxcy.{package}.{module}") for module in NAMES}
    return {
        name: getattr(modules[module], name) for module, names in NAMES.items() for name in names
    }


def choose() -> tuple[str, dict[str, Any]]:
    """Return (package, names) of the front that the environment selects."""
    try:
        find_lib_path()
    except RuntimeError as error:
        if isinstance(error, env.EnvError):
            raise
        raise ImportError(str(error)) from None  # without the front's chain of exceptions
    if not env.get("MXNET_ENABLE_CYTHON"):
        return "_ctypes", load("_ctypes")
    if env.is_set("MXNET_LIBRARY_PATH"):
        open_library()
    try:
        return "_cy", load("_cy")
    except ImportError as error:
        if env.get("MXNET_ENFORCE_CYTHON"):
            raise ImportError(
                f"MXNET_ENFORCE_CYTHON=1, but the Cython modules of mxcy cannot be used: {error}"
            ) from error
        if find_spec("mxcy._cy") is None:  # a wheel with the ctypes front only
            return "_ctypes", load("_ctypes")
        warnings.warn(
            f"the Cython modules of mxcy cannot be imported, using ctypes: {error}", stacklevel=2
        )
        return "_ctypes", load("_ctypes")


def prepare_library(names: dict[str, Any]) -> None:
    """Apply the environment's settings to a front's native library."""
    open_library().mx_backtrace_failures(env.get("DMLC_LOG_STACK_TRACE_DEPTH"))
    isa = env.get("MXCY_ISA")
    names["initialise"](
        int(isa[1]) if isa else 0, env.omp_threads(), env.get("MXNET_CPU_PARALLEL_SIZE")
    )


def engine_settings(workers: int) -> tuple[Any, ...]:
    """The engine settings of the environment, given the number of threads per CPU queue."""
    return (
        env.get("MXNET_ENGINE_TYPE").removesuffix("Async"),
        workers,
        env.get("MXNET_CPU_PRIORITY_NTHREADS"),
        env.get("MXNET_GPU_WORKER_NTHREADS"),
        env.get("MXNET_GPU_COPY_NTHREADS"),
        env.get("MXNET_ENGINE_INFO"),
    )


def prepare_engine(names: dict[str, Any]) -> None:
    """Configure the engine from the environment, and stop it for fork and at exit."""
    text = env.get("MXNET_ENGINE_TYPE")
    workers = env.get("MXNET_CPU_WORKER_NTHREADS")
    if text.removesuffix("Async") == "ThreadedEngine":
        workers = min(16, cpus.usable_cores())  # for its only queue
    settings = engine_settings(workers)
    if text != env.VARIABLES["MXNET_ENGINE_TYPE"].default:
        print("MXNet start using engine:", text, file=sys.stderr)
    names["configure_engine"](*settings)
    names["set_heavy_work"](env.get("MXCY_ENGINE_WORK"))
    names["set_soon"](env.get("MXCY_ENGINE_SOON"))
    stop, start = names["stop_engine"], names["start_engine"]
    os.register_at_fork(
        before=stop, after_in_parent=lambda: start(False), after_in_child=lambda: start(True)
    )

    def end() -> None:
        stop()
        try:
            names["wait_all"]()
        except Exception as error:
            print("mxcy: unhandled error of an asynchronous operation:", error, file=sys.stderr)
        names["configure_engine"]("NaiveEngine", *settings[1:])  # for late destructors

    atexit.register(end)


def start(services: Services, names: dict[str, Any] | None = None) -> None:
    """Give a front its services, after which operators can run.

    Parameters
    ----------
    services : mxcy._library.services.Services
    names : dict, optional
        The result of `load`, by default for the front in use.
    """
    names = _names if names is None else names
    names["use_services"](services)
    names["set_operators"](services.operators)


def choose_with(settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Run `choose` with environment variables that the OpenMP runtime reads when loaded."""
    for name, text in settings.items():
        env.set_raw(name, text)
    try:
        return choose()
    finally:
        for name in settings:
            env.set_raw(name, None)


env.read_import_time()
package, _names = choose_with(threads.runtime_settings(env.omp_threads()))
prepare_library(_names)
prepare_engine(_names)
threads.free_others(open_library())
threads.check_runtimes()
if env.is_set("OMP_NUM_THREADS") or env.is_set("MXNET_OMP_MAX_THREADS"):
    threads.limit_pools(env.omp_threads())
onednn.offer()
tuning.plug(tuning.Library(*(_names[name] for name in tuning.Library._fields)))

Streams = _names["Streams"]
NDArrayBase = _names["NDArrayBase"]
empty, from_memory, from_numpy = _names["empty"], _names["from_memory"], _names["from_numpy"]
make_sparse, detach_parts = _names["make_sparse"], _names["detach_parts"]
bind, call, execute = _names["bind"], _names["call"], _names["execute"]
function, numpy_function = _names["function"], _names["numpy_function"]
numpy_arithmetic, use_numpy = _names["numpy_arithmetic"], _names["use_numpy"]
numpy_operator = _names["numpy_operator"]
block = _names["block"]
set_threads, query, measure = _names["set_threads"], _names["query"], _names["measure"]
get_threads = _names["threads"]
has_kernel, flush_denormals = _names["has_kernel"], _names["flush_denormals"]
record_view = _names["record_view"]
tape_order, walk = _names["tape_order"], _names["walk"]
is_np_shape, set_np_shape = _names["is_np_shape"], _names["set_np_shape"]
shortcut = _names["shortcut"]
Node, Plan, take_over = _names["Node"], _names["Plan"], _names["take_over"]
Bases, Kept, Watch = _names["Bases"], _names["Kept"], _names["Watch"]
any_failed = _names["any_failed"]
recorder = _names["recorder"]
is_deferred, set_deferred = _names["is_deferred"], _names["set_deferred"]
history, is_taping = _names["history"], _names["is_taping"]
is_recording, set_recording = _names["is_recording"], _names["set_recording"]
is_training, set_training = _names["is_training"], _names["set_training"]
set_casting = _names["set_casting"]
has_numpy_types, set_numpy_types = _names["has_numpy_types"], _names["set_numpy_types"]
Pool, host_memory = _names["Pool"], _names["host_memory"]
Var, push = _names["Var"], _names["push"]
engine_stats, configure_engine = _names["engine_stats"], _names["configure_engine"]
set_bulk_size, allow_bulk = _names["set_bulk_size"], _names["allow_bulk"]
held, set_heavy_work = _names["held"], _names["set_heavy_work"]
settle_all, unfinished, wait_all = _names["settle_all"], _names["unfinished"], _names["wait_all"]
run_ahead, set_soon = _names["run_ahead"], _names["set_soon"]
