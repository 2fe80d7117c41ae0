"""Every environment variable that mxcy reads, once: name, type, default, meaning, reader.

No other module looks at the environment: it calls ``env.get(name)``. ``python -m mxcy.env``
prints the table with the values in force.

A variable is read at import ("I"), at first use ("F"; both are then fixed for the process) or at
each use ("C"). Unset and empty mean the default; a bad value raises `EnvError` when it is read.
"""

import os
import re
import warnings
from collections.abc import Callable, Collection, Mapping, MutableMapping
from typing import Any

from mxcy import cpus
from mxcy.base import MXNetError

__all__ = ["EnvError", "Variable", "Environment", "VARIABLES", "get", "is_set", "read_import_time"]
__all__ += ["omp_threads", "report", "raw", "set_raw"]


class EnvError(MXNetError, ValueError):
    """An environment variable holds a value that mxcy does not accept."""


# --- types: each has the words for "accepted" and a parser that raises ValueError -----------------


class Kind:
    """How the text of a variable becomes a value."""

    def __init__(self, accepts: str, parse: Callable[[str], Any]):
        self.accepts, self.parse = accepts, parse


def _parse_flag(text: str) -> bool:
    return {"0": False, "1": True, "false": False, "true": True}[text.strip().lower()]


def _parse_int(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text.strip()):
        raise ValueError(text)
    return int(text)


flag = Kind("0, 1, true or false", _parse_flag)
path = Kind("a path", os.path.expanduser)


def integer(low: int, high: int | None = None) -> Kind:
    """Whole numbers from `low` to `high`, both included."""

    def parse(text: str) -> int:
        value = _parse_int(text)
        if value < low or (high is not None and value > high):
            raise ValueError(text)
        return value

    return Kind(f"an integer, {low} or more" if high is None else f"{low} to {high}", parse)


def one_of(*choices: str) -> Kind:
    """Exactly one of some words."""
    return Kind("one of " + ", ".join(choices), lambda text: choices[choices.index(text)])


def words(*choices: str) -> Kind:
    """A comma list of some words, as a frozenset."""

    def parse(text: str) -> frozenset[str]:
        return frozenset(choices[choices.index(word.strip())] for word in text.split(","))

    return Kind("a comma list of " + ", ".join(choices), parse)


def _parse_team(text: str) -> int:
    """The outermost level of OpenMP's comma list of team sizes."""
    sizes = [_parse_int(part) for part in text.split(",")]
    if min(sizes) < 1:
        raise ValueError(text)
    return sizes[0]


team = Kind("an integer, 1 or more, or a comma list of them", _parse_team)


waiting = Kind(
    "active or passive", lambda text: {"active": 1, "passive": 0}[text.strip().lower()] and text
)
spins = Kind("a number, which may end in k or M, or infinite", str)


# --- the table --------------------------------------------------------------------------------


class Variable:
    """One row of the table.

    Attributes
    ----------
    name : str
        The documented name; `aliases` are accepted too, and `name` wins over them.
    kind : Kind
        Type, accepted values and parser.
    default : object
        The value when unset; a function is called to find it.
    when : {'I', 'F', 'C'}
        Read at import, at first use, at each use.
    reader : str
        The module that acts on it.
    doc : str
        What it does, in a sentence or two.
    inert : str
        Why setting it to something else than the default does nothing, where that is so.
    """

    def __init__(
        self,
        name: str,
        kind: Kind,
        default: Any,
        when: str,
        reader: str,
        doc: str,
        aliases: tuple[str, ...] = (),
        inert: str = "",
    ):
        self.name, self.kind, self.when, self.inert = name, kind, when, inert
        self._default, self.reader, self.doc, self.aliases = default, reader, doc, aliases

    @property
    def default(self) -> Any:
        """The value of the unset variable."""
        return self._default() if callable(self._default) else self._default

    def parse(self, text: str, spelled: str | None = None) -> Any:
        """The value of a text.

        Raises
        ------
        EnvError
            When the text is none of the accepted values; it names variable, value and choices.
        """
        try:
            return self.kind.parse(text)
        except (ValueError, KeyError):
            raise self.error(text, spelled) from None

    def error(self, value: object, spelled: str | None = None) -> EnvError:
        """The error for a bad value; also for readers with conditions that no type can express."""
        return EnvError(
            f"environment variable {spelled or self.name}={value!r}: expected {self.kind.accepts}"
        )


_ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

_ROWS = (
    # --- loading and language binding
    Variable("MXNET_ENABLE_CYTHON", flag, True, "I", "mxcy._front",
             "Use the Cython front; 0 chooses the ctypes front without importing the other."),
    Variable("MXNET_ENFORCE_CYTHON", flag, False, "I", "mxcy._front",
             "With the Cython front enabled: fail instead of falling back when it cannot load."),
    Variable("MXNET_LIBRARY_PATH", path, None, "I", "mxcy.libinfo",
             "The native library libmxcy.so, or the folder that holds it."),
    Variable("MXNET_INCLUDE_PATH", path, None, "C", "mxcy.libinfo",
             "The folder of the C header that find_include_path() returns."),
    Variable("MXNET_CONF_PATH", path, None, "C", "mxcy.libinfo",
             "The configuration file that find_conf_path() returns."),
    Variable("MXNET_ENV_STRICT", flag, None, "I", "mxcy.libinfo",
             "0: a MXNET_LIBRARY_PATH that cannot be used is only a warning."),
    Variable("MXCY_ISA", one_of("v2", "v3", "v4"), None, "I", "mxcy._front",
             "The x86-64 level whose build of the kernels runs; default: the best of this CPU."),
    # --- threads
    Variable("OMP_NUM_THREADS", team, cpus.usable_cores, "I", "mxcy.env",
             "Threads of the parallel team; default: the physical cores this process may use, "
             "capped by its control group's CPU quota. Of a list, the first counts."),
    Variable("OMP_WAIT_POLICY", waiting, None, "I",
             "mxcy._front", "Whether threads of the team spin or sleep between regions; default: "
             "they spin for some microseconds, then sleep."),
    Variable("GOMP_SPINCOUNT", spins, None, "I", "mxcy._front",
             "How often threads of the team look for work before they sleep; default 10000."),
    Variable("MXNET_OMP_MAX_THREADS", integer(1), None, "I", "mxcy.env",
             "An upper bound of the team size."),
    Variable("MXNET_CPU_PARALLEL_SIZE", integer(0), 200000, "F", "mxcy._front",
             "Arrays with fewer elements are worked on by one thread."),
    Variable("MXNET_CPU_NNPACK_NTHREADS", integer(1), None, "C", "mxcy.ops.prepare",
             "1: fused convolutions, pooling and dense layers use one thread; otherwise, as there "
             "is only one team, all of it."),
    # --- execution
    Variable("MXNET_ENGINE_TYPE", one_of(*_ENGINES, *(name + "Async" for name in _ENGINES)),
             "ThreadedEnginePerDevice", "I", "mxcy.env",
             "How operators are scheduled. For now all types mean NaiveEngine: each operator runs "
             "in its caller."),
    Variable("MXNET_ONEDNN_ENABLED", flag, True, "F", "mxcy.onednn",
             "Use oneDNN when it is installed.", aliases=("MXNET_MKLDNN_ENABLED",)),
    Variable("MXCY_ONEDNN_LIBRARY", path, None, "F", "mxcy.onednn",
             "The oneDNN library to open, instead of searching for one."),
    Variable("MXNET_ONEDNN_CACHE_NUM", integer(-1), -1, "F", "mxcy.onednn",
             "The most oneDNN primitives kept for reuse, the least recently used go first; 0 keeps "
             "none, -1 as many as 256 MB hold.", aliases=("MXNET_MKLDNN_CACHE_NUM",)),
    Variable("MXNET_SAFE_ACCUMULATION", flag, True, "I", "mxcy.env",
             "Accumulate in a wider type in softmax, norms and the like.",
             inert="kernels always accumulate in a wider type"),
    Variable("MXCY_VERBOSE", words("dispatch", "passes"), frozenset(), "C", "mxcy.ops.prepare",
             "Comma list of what to print; 'dispatch': the kernel chosen for each new signature, "
             "and why the others refused; 'passes': what each pass over a graph did."),
    Variable("MXNET_EXEC_INPLACE_GRAD_SUM_CAP", integer(2), 8, "F", "mxcy.planned",
             "Gradients with fewer summands are added by one operator, else one after the other."),
    # --- graphs
    Variable("MXNET_SUBGRAPH_BACKEND", one_of("ONEDNN", "MKLDNN", "NONE"), "ONEDNN", "C",
             "mxcy.graph.optimize",
             "NONE: graphs are not rewritten for fused layers and blocked arrays."),
    *(Variable(f"MXNET_DISABLE_ONEDNN_{name}", flag, False, "C", "mxcy.graph.passes.layers",
               f"1: do not fuse {what}.", aliases=(f"MXNET_DISABLE_MKLDNN_{name}",))
      for name, what in (
          ("CONV_OPT", "anything with convolutions"),
          ("FUSE_CONV_BN", "batch normalisation into convolutions"),
          ("FUSE_CONV_SUM", "additions into convolutions"),
          ("FUSE_CONV_RELU", "activations into convolutions"),
          ("FC_OPT", "anything with dense layers"),
          ("FC_SUM", "additions into dense layers"),
          ("FUSE_FC_ELTWISE", "activations into dense layers"),
      )),
    Variable("MXNET_DISABLE_ONEDNN_FUSE_BN_RELU", flag, False, "C", "mxcy.graph.passes.layout",
             "1: do not fuse ReLU into batch normalisation.",
             aliases=("MXNET_DISABLE_MKLDNN_FUSE_BN_RELU",)),
    Variable("MXNET_ONEDNN_FORCE_FC_AB_FORMAT", flag, False, "C", "mxcy.graph.algorithm",
             "1: the weights of dense layers are not packed but used as they lie.",
             aliases=("MXNET_MKLDNN_FORCE_FC_AB_FORMAT",)),
    Variable("MXNET_CUDNN_AUTOTUNE_DEFAULT", integer(0, 2), 1, "C", "mxcy.graph.target",
             "0: take the first fitting algorithm of a convolution; otherwise the fastest in a "
             "short trial, remembered under MXNET_HOME. On CPU as well."),
    Variable("MXNET_CUDNN_ALLOW_WINOGRAD", flag, True, "C", "mxcy.graph.algorithm",
             "0: no convolution is computed by Winograd's algorithm. On CPU as well."),
    Variable("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", integer(0, 2), 0, "C", "mxcy.graph.target",
             "1: print the algorithm chosen for each convolution; 2: also the times of all."),
    Variable("MXNET_ENFORCE_DETERMINISM", flag, False, "C", "mxcy.graph.target",
             "1: algorithms are not chosen by trials."),
    Variable("MXNET_EXEC_ENABLE_INPLACE", flag, True, "C", "mxcy.graph.memory",
             "Let outputs of a plan take over the memory of inputs that nobody reads any more."),
    Variable("NNVM_EXEC_MATCH_RANGE", integer(0), 16, "C", "mxcy.graph.memory",
             "Free memory in a plan serves requests up to this many times smaller or larger; 1, 2, "
             "4 and so on up to it are tried and the smallest plan is kept, from 16 on also one "
             "without fixed buffers. 0: nothing is shared.",
             aliases=("MXNET_EXEC_MATCH_RANGE",)),
    Variable("MXNET_EXEC_NUM_TEMP", integer(1), 1, "C", "mxcy.graph.memory",
             "Share a plan's memory only within each of this many nearly independent paths.",
             aliases=("NNVM_EXEC_NUM_TEMP",)),
    Variable("MXNET_EXEC_BULK_EXEC_INFERENCE", flag, True, "C", "mxcy.graph.segments",
             "Prediction: the whole plan is one segment of work; 0: each operator is one."),
    Variable("MXNET_EXEC_BULK_EXEC_TRAIN", flag, True, "C", "mxcy.graph.segments",
             "Training: consecutive operators form segments; 0: each operator is one."),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", integer(0), 15, "C", "mxcy.graph.segments",
             "Training: the most operators of a segment."),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", integer(0), None, "C",
             "mxcy.graph.segments", "The same for forward passes only."),
    Variable("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", integer(0), None, "C",
             "mxcy.graph.segments", "The same for backward passes only."),
    Variable("MXNET_ELIMINATE_COMMON_EXPR", flag, True, "C", "mxcy.graph.passes.cse",
             "Compute once what several nodes of a graph compute alike."),
    Variable("MXNET_BACKWARD_DO_MIRROR", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: compute cheap values again in the backward pass instead of keeping them, "
             "where the plan then needs less memory."),
    Variable("MXNET_MEMORY_OPT", flag, False, "C", "mxcy.graph.passes.mirror",
             "Training: the same, and try further ways to need less memory."),
    Variable("MXNET_USE_FUSION", flag, True, "C", "mxcy.graph.passes.fuse",
             "Run connected elementwise operators of a graph as one program."),
    Variable("MXNET_RTC_VERBOSE", flag, False, "C", "mxcy.graph.passes.fuse",
             "Print each such program to the standard error stream.",
             aliases=("MXNET_FUSION_VERBOSE",)),
    Variable("MXNET_EXEC_VERBOSE_LOGGING", flag, False, "C", "mxcy.planned",
             "Print the steps of each new plan to the standard error stream."),
    Variable("MXNET_MEM_PLAN_VERBOSE_LOGGING", flag, False, "C", "mxcy.planned",
             "Print where the results of each new plan lie to the standard error stream."),
    # --- the CPU memory pool
    Variable("MXNET_CPU_MEM_POOL_TYPE", one_of("Naive", "Round", "Unpooled"), "Naive", "F",
             "mxcy._front", "How freed memory is kept: by exact size, by powers of two, or not."),
    Variable("MXNET_CPU_MEM_POOL_PAGE_SIZE", integer(32), 4096, "F", "mxcy._front",
             "Sizes are rounded up to a multiple of this; a power of two with Round.",
             aliases=("MXNET_CPU_POOL_PAGE_SIZE",)),
    Variable("MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE", integer(1), 2097152, "F", "mxcy._front",
             "Naive: sizes above this are rounded up to a multiple of it; 1 switches that off."),
    Variable("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", integer(20, 34), 24, "F", "mxcy._front",
             "Round: up to 2^this bytes sizes go to powers of two, above to multiples of it."),
    Variable("MXNET_CPU_MEM_POOL_RESERVE", integer(0, 100), 5, "F", "mxcy._front",
             "Percentage of memory to keep free; kept memory is released before it is touched."),
    Variable("MXNET_USE_NAIVE_STORAGE_MANAGERS", integer(0), 0, "F", "mxcy._front",
             "Not 0: no memory pools, whatever their types.",
             aliases=("MXNET_USE_NAIVE_STORAGE_MANAGER",)),
    # --- training on several devices
    Variable("MXNET_UPDATE_ON_KVSTORE", flag, True, "C", "mxcy.module.updates",
             "Let the key-value store of a module run its optimizer where it can."),
    # --- random numbers
    Variable("MXNET_CPU_PARALLEL_RAND_COPY", integer(1, 1024), 1, "F", "mxcy.streams",
             "Sets of random streams on the CPU, which random operators take in turn."),
    # --- files
    Variable("MXNET_HOME", path, lambda: os.path.expanduser(os.path.join("~", ".mxnet")), "C",
             "mxcy.base", "The folder for downloaded models, data sets and embeddings."),
    Variable("MXNET_GLUON_REPO", Kind("an address or a folder", str),
             "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/", "C",
             "mxcy.gluon.model_zoo.model_store",
             "Where pretrained models are fetched from: gluon/models/NAME.zip in there."),
)  # fmt: skip

#: name -> row, aliases not included
VARIABLES = {row.name: row for row in _ROWS}


#: the variables that passes over graphs and the memory planner obey
PLANNING = ("MXCY_VERBOSE", *(r.name for r in _ROWS if r.reader.startswith("mxcy.graph.")))


# --- reading ----------------------------------------------------------------------------------


class Environment:
    """The variables of one mapping of texts, normally ``os.environ``."""

    def __init__(self, source: Mapping[str, str], table: Collection[Variable] = _ROWS):
        self._source = source
        self._table = {row.name: row for row in table}
        self._fixed: dict[str, Any] = {}
        self._warned: set[str] = set()

    def get(self, name: str) -> Any:
        """The value of a variable, fixed at the first call unless it is read at each use.

        Raises
        ------
        KeyError
            When no row of the table has that name.
        EnvError
            When its text is not accepted.
        """
        if name in self._fixed:
            return self._fixed[name]
        row = self._table[name]
        spelled, text = self._find(row)
        value = row.parse(text, spelled) if text else row.default
        if row.when != "C":
            self._fixed[name] = value
        return value

    def is_set(self, name: str) -> bool:
        """Whether a variable has a text now, under any of its names."""
        return bool(self._find(self._table[name])[1])

    def read_import_time(self) -> None:
        """Read all variables that are fixed at import; warn of those that do nothing."""
        for row in self._table.values():
            if row.when == "I":
                value = self.get(row.name)
                if row.inert and value != row.default:
                    warnings.warn(f"{row.name} has no effect: {row.inert}", stacklevel=2)

    def omp_threads(self) -> int:
        """The size of the parallel team: OMP_NUM_THREADS, at most MXNET_OMP_MAX_THREADS."""
        threads: int = self.get("OMP_NUM_THREADS")
        most: int | None = self.get("MXNET_OMP_MAX_THREADS")
        return threads if most is None else min(threads, most)

    def report(self) -> list[dict[str, Any]]:
        """One dict per variable: name, raw, value, default, when, read_already, status, why.

        `status` is ``active`` (set and obeyed), ``default``, ``inert`` (set, but nothing acts on
        it), ``late`` (changed after it was read) or ``bad`` (not accepted); `why` explains.
        """
        return [self._describe(row) for row in self._table.values()]

    def _describe(self, row: Variable) -> dict[str, Any]:
        spelled, text = self._find(row, warn=False)
        why = "" if spelled == row.name or not text else f"set as {spelled}"
        status = "active" if text else "default"
        try:
            now = row.parse(text, spelled) if text else row.default
        except EnvError as error:
            now, status, why = None, "bad", str(error)
        if status == "active" and row.inert and now != row.default:
            status, why = "inert", row.inert
        value = self._fixed.get(row.name, now)
        if row.name in self._fixed and value != now:
            status, why = "late", "changed after it was read; the change has no effect"
        return {
            "name": row.name,
            "raw": text,
            "value": value,
            "default": row.default,
            "when": row.when,
            "read_already": row.name in self._fixed,
            "status": status,
            "why": why,
        }

    def _find(self, row: Variable, warn: bool = True) -> tuple[str, str | None]:
        """The spelling that counts and its text; the documented name wins over aliases."""
        found = [(name, self._source.get(name)) for name in (row.name, *row.aliases)]
        given = [(name, text) for name, text in found if text]
        if not given:
            return row.name, None
        if warn and len({text for _, text in given}) > 1 and row.name not in self._warned:
            self._warned.add(row.name)
            losers = ", ".join(f"{name}={text}" for name, text in given[1:])
            message = f"{given[0][0]}={given[0][1]} wins over {losers}"
            warnings.warn(message, stacklevel=3)
        return given[0]


_process = Environment(os.environ)
get = _process.get
is_set = _process.is_set
read_import_time = _process.read_import_time
omp_threads = _process.omp_threads
report = _process.report


def raw(name: str) -> str | None:
    """The text of any environment variable, for ``mx.util.getenv``."""
    return os.environ.get(name)


def set_raw(name: str, text: str | None, target: MutableMapping[str, str] = os.environ) -> None:
    """Set the text of any environment variable, or remove it with None, for ``mx.util.setenv``."""
    if text is None:
        target.pop(name, None)
    else:
        target[name] = text


def main() -> None:
    """Print the table with the values in force."""
    for entry in report():
        row = VARIABLES[entry["name"]]
        print(f"{row.name} = {entry['value']}  ({entry['status']}, read {row.when})")
        if entry["why"]:
            print(f"    {entry['why']}")
        print(f"    {row.doc} Accepts {row.kind.accepts}; default {entry['default']}.")


if __name__ == "__main__":
    main()
