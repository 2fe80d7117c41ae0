"""The decision between one thread and the team, and the measurements behind it."""

import atexit
import math
import os
import sys
import threading
import time
import warnings
import zlib
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mxcy import env
from mxcy._base import cpus
from mxcy._base.dtypes import NAMES, REALS
from mxcy._base.errors import MXNetError
from mxcy._base.fork_safety import free_in_child

if TYPE_CHECKING:
    from mxcy._machine.tuning.table import Table

__all__ = ["ALL", "Library", "Tuner"]

#: more threads than any team has
ALL = 1 << 20

_MIN_TEAM_WORK = 2048  # fewer steps of work always use one thread
_MIN_LAYER_WORK = 8192  # for each thread of a convolution or dense layer, which is not measured
_MAX_MEASURED_WORK = 1 << 22  # more steps of work always use the team, unmeasured
_MAX_TIMED_BYTES = 8 << 20  # of a call that is timed on its real sizes
# Fraction of the serial time below which the team is used. Regions are timed back to back, whereas
# occasional ones take longer; and a small gain is not worth occupying the other cores.
_MAX_TIME_RATIO = 0.8
_KERNEL_BUDGET = 1_000_000  # nanoseconds for timing a kernel
_REGION_BUDGET = 500_000  # for timing parallel regions
_MAX_ATTEMPTS = 3  # attempts per kernel while other programs use the cores
_MAX_PROCESSES = 3  # that re-measure a kernel with little gain
_LITTLE_GAIN_RATIO = 0.75  # of the serial time: may be due to a partly occupied core
_MAX_WAITING = 0.1  # fraction of the time that threads waited for a core
_TYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64")

_Flat = namedtuple("_Flat", "shape dtype")


class Library(NamedTuple):
    """The functions of a front that measuring needs; see `_cy/native.pyx`."""

    threads: Callable[[], int]
    region_time: Callable[[int, int], float]
    race: Callable[..., tuple[float, float]]
    second_cache: Callable[[], int]


class _Settings:
    """The environment variables of operator tuning, read at first use."""

    def __init__(self) -> None:
        self.size = max(env.get("MXNET_CPU_PARALLEL_SIZE"), 1)
        wanted = env.get("MXNET_USE_OPERATOR_TUNING")
        if isinstance(wanted, frozenset) and wanted.difference(_TYPES):
            unknown = ", ".join(sorted(wanted.difference(_TYPES)))
            warnings.warn(
                f"MXNET_USE_OPERATOR_TUNING: {unknown} is ignored, expected 0, 1 or a list of "
                f"{', '.join(_TYPES)}",
                stacklevel=2,
            )
        if env.is_set("MXNET_CPU_PARALLEL_SIZE"):
            wanted = False
        every = frozenset(REALS)
        self.types = every if wanted is True else every.intersection(wanted or ())
        self.cores: int | None = env.get("MXNET_USE_NUM_CORES_OPERATOR_TUNING")
        scale: float = env.get("MXNET_TUNING_WEIGHT_SCALE")
        self.scale = scale if scale > 0.01 else 1.0
        self.persistent: bool = env.get("MXNET_OPERATOR_TUNING_CACHE")
        self.verbose: bool = env.get("MXNET_VERBOSE_TUNING_INFO")
        self.prints: bool = env.get("MXNET_OUTPUT_TUNING_DATA")


class Tuner:
    """Chooses thread counts; without a library (see `plug`) by MXNET_CPU_PARALLEL_SIZE only."""

    def __init__(self) -> None:
        self._library: Library | None = None
        self._tables: dict[int, Table] = {}  # by team size
        self._attempts: Counter[tuple[int, str, str]] = Counter()
        self._regions: defaultdict[int, set[int]] = defaultdict(set)  # by team: measured here
        self._cached_settings: _Settings | None = None
        self._lock = free_in_child(threading.Lock())

    def plug(self, library: Library) -> None:
        """Set the front to measure with."""
        self._library = library

    @property
    def _settings(self) -> _Settings:
        if self._cached_settings is None:
            self._cached_settings = _Settings()
        return self._cached_settings

    # --- deciding ---
    def threads_for(self, call: Any, kernel: Any, values: Mapping[str, Any]) -> int:
        """The maximum number of threads for a prepared call: 1, `ALL`, or a cap.

        Parameters
        ----------
        call : mxcy.ops.core.prepare.Call
        kernel : mxcy.ops.core.record.Native
            The selected kernel.
        values : mapping
            The fields of its parameter struct.
        """
        if not self._team_pays(call, kernel, values):
            return 1
        cap: int | None = env.get("MXNET_CPU_NNPACK_NTHREADS") if kernel.capped else None
        return ALL if cap is None else cap

    def _team_pays(self, call: Any, kernel: Any, values: Mapping[str, Any]) -> bool:
        settings, library = self._settings, self._library
        static: bool = call.work >= settings.size
        if NAMES[call.dtype] not in settings.types or library is None:
            return static
        if call.work < _MIN_TEAM_WORK:
            return False
        if kernel.asks and kernel.capped:  # products take longer than steps on memory
            least = min(settings.size, _MIN_LAYER_WORK * library.threads())
            return bool(call.work >= least)
        if (
            kernel.asks
            or not kernel.tried
            or call.op.uses_rng
            or env.get("MXNET_ENFORCE_DETERMINISM")
        ):
            return static
        if settings.cores is not None and settings.cores < 2:
            return False
        team = library.threads()
        if team < 2:
            return static  # the team may grow later
        if call.work > _MAX_MEASURED_WORK:
            return True
        touched = sum(spec.nbytes for spec in (*call.ins, *call.outs))
        flat = _is_flat(call, kernel)
        if touched > _MAX_TIMED_BYTES and not flat:
            return static
        key = f"{call.kernel} {_dtypes_key(call)}" + ("" if flat else _shape_key(call, values))
        location = "in" if touched <= library.second_cache() else "out"
        table = self._table(team)
        if self._is_due(table, key, location):
            with self._lock:
                if self._is_due(table, key, location):  # another thread may have measured it
                    self._attempts[team, key, location] += 1
                    self._measure(library, table, key, location, call, flat)
        rates = self._rates(table, key, location)
        if rates is None:
            return static
        alone, together, _ = rates
        return self._region_cost(table) + call.work * together < _MAX_TIME_RATIO * call.work * alone

    def _is_due(self, table: "Table", key: str, location: str) -> bool:
        """Whether a kernel should be measured, for the first time or again."""
        tried = self._attempts[table.team, key, location]
        rates = self._rates(table, key, location)
        if rates is None:
            return tried < _MAX_ATTEMPTS
        alone, together, processes = rates
        return tried == 0 and processes < _MAX_PROCESSES and together > _LITTLE_GAIN_RATIO * alone

    def _rates(self, table: "Table", key: str, location: str) -> list[float] | None:
        """The entry of `Table.rates`, or None if it is missing or doubtful."""
        regions = table.measured(self._settings.cores)
        if (key, location) in table.doubtful or not table.doubtful.isdisjoint(regions):
            return None
        return (
            table.rates.get(key, {}).get(location) if table.regions.keys() >= set(regions) else None
        )

    # --- measuring ---
    def _table(self, team: int) -> "Table":
        table = self._tables.get(team)
        if table is None:
            from mxcy._machine.tuning.table import Table  # with its imports, only when needed

            with self._lock:
                if not self._tables:
                    atexit.register(self._finish, os.getpid())
                if team not in self._tables:
                    self._tables[team] = Table(team, self._settings.persistent)
                table = self._tables[team]
        return table

    def _measure(
        self, library: Library, table: "Table", key: str, location: str, call: Any, flat: bool
    ) -> None:
        """Measure a kernel and add its rates to the table, unless it cannot be timed."""
        began = time.perf_counter()
        wanted = sorted({table.team, *table.measured(self._settings.cores)})
        missing = [n for n in wanted if n not in self._regions[table.team] or n in table.doubtful]
        for n in missing:
            budget = _REGION_BUDGET // len(missing)
            cost, sure = _undisturbed(partial(library.region_time, n, budget))
            self._regions[table.team].add(n)
            if sure or n in table.doubtful or n not in table.regions:
                table.regions[n] = min(cost, table.regions.get(n, cost))
                self._mark(table, n, sure)
            self._log(f"a region of {n} threads: {cost:.0f} ns{'' if sure else ', disturbed'}")
        ins, outs, work = call.ins, call.outs, call.work
        if flat:
            step_bytes = sum(spec.nbytes // spec.size for spec in (*ins, *outs))
            capacity = library.second_cache() * (0.5 if location == "in" else 2)
            work = max(int(capacity / step_bytes), 1)
            ins = [_Flat((work,), spec.dtype) for spec in ins]
            outs = [_Flat((work,), spec.dtype) for spec in outs]

        def race() -> tuple[float, float]:
            return library.race(
                call.kernel,
                call.dtype,
                call.params,
                ins,
                outs,
                call.workspace,
                table.team,
                _KERNEL_BUDGET,
            )

        try:
            (alone, together), sure = _undisturbed(partial(_best_race, race))
        except MXNetError:
            self._attempts[table.team, key, location] = _MAX_ATTEMPTS
            return
        # A speed-up beyond the number of threads is noise.
        together = max(together - table.regions[table.team], alone / table.team)
        known = (
            None if (key, location) in table.doubtful else table.rates.get(key, {}).get(location)
        )
        if known is None or sure:
            best = known or [math.inf, math.inf, 0]
            times = [min(alone / work, best[0]), min(together / work, best[1]), best[2] + 1]
            table.rates.setdefault(key, {})[location] = times
            self._mark(table, (key, location), sure)
        self._log(
            f"{key}, {location} cache: {alone / work:.3g} ns alone, {together / work:.3g} ns in a "
            f"team of {table.team}{'' if sure else ', disturbed'}; took "
            f"{(time.perf_counter() - began) * 1e3:.2f} ms"
        )

    def _mark(self, table: "Table", what: object, sure: bool) -> None:
        (table.doubtful.discard if sure else table.doubtful.add)(what)
        table.changed = True

    def _log(self, text: str) -> None:
        if self._settings.verbose:
            print(f"mxcy tuning {text}", file=sys.stderr, flush=True)

    # --- reporting ---
    def rows(self) -> list[dict[str, Any]]:
        """The measurements of operator tuning so far, for the current team size.

        Returns
        -------
        list of dict
            One per kernel, types and form (rough sizes, where they matter): `operator`, `dtype`,
            `form`; `in_cache` and `out_of_cache`, each None or a dict: nanoseconds per work step,
            `alone` and `team`; `parallel_from`, the work above which the team is used (infinite if
            never); whether they are `doubtful`, measured while other programs used the cores and
            therefore not used.
        """
        table = self._current()
        if table is None or not self._settings.types:
            return []
        figures = []
        for key in sorted(table.rates):
            operator, types, *form = key.split(" ")
            if types.partition(">")[0] in self._settings.types:
                figures.append(
                    {
                        "operator": operator,
                        "dtype": types.partition(">")[0],
                        "form": " ".join((*types.split(">")[1:], *form)),
                        "in_cache": self._figures(table, key, "in"),
                        "out_of_cache": self._figures(table, key, "out"),
                    }
                )
        return figures

    def summary(self) -> dict[str, Any]:
        """The settings of operator tuning and all measurements so far.

        Returns
        -------
        `types` that are tuned, `threads` of the team, `measured_threads` and `regions`
        (nanoseconds of a parallel region by thread count), `region` (the cost used in decisions,
        infinite if the team is never used), `parallel_size` (the threshold where tuning is off),
        `file` and `operators` (see `op_tuning`).
        """
        settings, table = self._settings, self._current()
        never = settings.cores is not None and settings.cores < 2
        regions = dict(table.regions) if table else {}
        region = self._region_cost(table) if regions and table else None
        if never:
            region = math.inf
        return {
            "types": sorted(settings.types),
            "threads": self._library.threads() if self._library else 1,
            "measured_threads": sorted(regions),
            "regions": regions,
            "region": region,
            "parallel_size": settings.size,
            "file": table.path if table and table.persistent else None,
            "operators": self.rows(),
        }

    def _current(self) -> "Table | None":
        return self._tables.get(self._library.threads()) if self._library else None

    def _region_cost(self, table: "Table") -> float:
        return table.region(self._settings.cores) * self._settings.scale

    def _figures(self, table: "Table", key: str, location: str) -> dict[str, Any] | None:
        rates = table.rates[key].get(location)
        if rates is None:
            return None
        alone, together, _ = rates
        gain = _MAX_TIME_RATIO * alone - together
        return {
            "alone": alone,
            "team": together,
            "parallel_from": self._region_cost(table) / gain if gain > 0 else math.inf,
            "doubtful": (key, location) in table.doubtful,
        }

    def _finish(self, pid: int) -> None:
        """Save and, if requested, print the measurements, at exit."""
        if os.getpid() != pid:
            return
        for table in self._tables.values():
            table.save()
            if self._settings.prints:
                print(table.text(), flush=True)


def _undisturbed(measure: Callable[[], Any]) -> tuple[Any, bool]:
    """Measure, with one retry, until undisturbed; return the result and whether it was."""
    for _ in range(2):
        waited, began = cpus.waited(), time.perf_counter_ns()
        measured = measure()
        spent = time.perf_counter_ns() - began
        if cpus.waited() - waited <= _MAX_WAITING * spent:
            return measured, True
    return measured, False


def _best_race(race: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """The minimum times of a race, repeated if it shows little gain."""
    alone, together = race()
    if together > _LITTLE_GAIN_RATIO * alone:
        again = race()
        alone, together = min(alone, again[0]), min(together, again[1])
    return alone, together


def _is_flat(call: Any, kernel: Any) -> bool:
    """Whether a kernel's cost per step is independent of the shape."""
    mark = kernel.pointwise(call.attrs) if callable(kernel.pointwise) else kernel.pointwise
    sizes = {spec.size for spec in (*call.ins, *call.outs)}
    return bool(mark) and kernel.work is None and sizes == {call.work}


def _dtypes_key(call: Any) -> str:
    """The kernel's dtype, and those of inputs and outputs if they differ."""
    codes = [spec.dtype for spec in (*call.ins, *call.outs)]
    if all(code == call.dtype for code in codes):
        return NAMES[call.dtype]
    return f"{NAMES[call.dtype]}>{','.join(NAMES[code] for code in codes)}"


def _shape_key(call: Any, values: Mapping[str, Any]) -> str:
    """The part of the key for the shape: sizes and integer parameters, rounded to powers of two."""
    numbers = [spec.size for spec in (*call.ins, *call.outs)]
    for name, value in values.items():
        if not name.endswith("offset"):
            numbers += value if isinstance(value, (list, tuple)) else [value]
    lengths = [abs(int(n)).bit_length() for n in numbers if not isinstance(n, float)]
    text = ".".join(map(str, lengths))
    return f" {text if len(text) < 60 else f'{zlib.crc32(text.encode()):08x}'}"
