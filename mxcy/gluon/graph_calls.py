"""The cached operators that run the calls of a hybridized block."""

import sys
from operator import is_

from mxcy import env
from mxcy._base.lru_cache import LRUCache
from mxcy._base.suggestions import did_you_mean
from mxcy._execute.cached_op import CachedOp
from mxcy._execute.eager import run_eagerly
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.gluon.parameter_arrays import ParameterArrays, assignments
from mxcy.gluon.recorded_trace import CapturedArray, record_trace
from mxcy.gluon.tracing import TraceError, regroup, same_structure, trace
from mxcy.gluon.utils import shape_is_known
from mxcy.graph.backend import is_known
from mxcy.ndarray import NDArray
from mxcy.symbol.inference import partial_specs
from mxcy.util import is_np_array

__all__ = ["GraphCalls", "Traced", "check_options", "infer_parameters"]

#: flags of `HybridBlock.hybridize` that are passed on to the cached operator
_FLAGS = (
    "static_alloc",
    "static_shape",
    "inline_limit",
    "forward_bulk_size",
    "backward_bulk_size",
    "mirror",
)
#: options of `HybridBlock.hybridize` without a backend, including MXNet's that have no effect here
_OPTIONS = (*_FLAGS, "data_indices", "param_indices", "is_dynamic", "partition_if_dynamic")

_DATA = ParameterArrays.data
#: marks signatures that cannot be traced and run eagerly
_EAGER = object()


def check_options(backend, options):
    """Check the backend's name, which may be unknown, with a warning, and options without one.

    Raises
    ------
    MXNetError
        For an unknown option without a backend.
    """
    if backend:
        is_known(backend)
        return
    for name in options:
        if name not in _OPTIONS:
            near = did_you_mean(name, _OPTIONS)
            raise MXNetError(f"hybridize: unknown option {name!r} without a backend{near}")


class GraphCalls:
    """Cache of a block's traces, one per input structure (symbolic) or per signature (recorded).

    Holds no reference to the block, which owns it.

    Parameters
    ----------
    flags : dict
        Arguments of `HybridBlock.hybridize`.
    """

    def __init__(self, flags):
        self.flags = {name: flags[name] for name in _FLAGS if name in flags}
        self._backend = flags.get("backend")
        self._traced = []  # (format, Traced or None where tracing failed)
        self._by_count = {}  # number of inputs -> Traced of calls whose inputs are all arrays
        self._by_signature = LRUCache(env.get("MXCY_CACHED_PLANS"))  # signature -> Traced or _EAGER
        self._first_recorded = None
        self._graphs = {}  # JSON of a recorded graph -> Traced
        self.why_eager = None  # reason of the first signature that runs eagerly

    def traced(self):
        """(input format, Traced) for each structure that could be traced."""
        return [(form, traced) for form, traced in self._traced if traced is not None]

    def add(self, form, traced):
        """Register a Traced for an input format."""
        self._traced.append((form, traced))

    def of_arrays(self, args):
        """The Traced of an earlier call with as many plain arrays on one context, or None."""
        traced = self._by_count.get(len(args))
        if traced is not None:
            context = None
            for array in args:
                if type(array) is not NDArray:
                    return None
                if context is None:
                    context = array.context
                elif array.context is not context:
                    return None
        return traced

    def only_traced(self):
        """The only Traced; None if there are several or none."""
        traces = self.traced()
        return traces[0][1] if len(traces) == 1 else self._first_recorded

    def only_trace(self):
        """The only Trace; None if there are several or none."""
        traced = self.only_traced()
        return None if traced is None else traced.trace

    def find(self, block, flat, form, only_one=False):
        """Look up the Traced for inputs, tracing the block if needed; None if tracing fails.

        Parameters
        ----------
        block : HybridBlock
        flat : list of NDArray
        form
            See `tracing.flatten`.
        only_one : bool
            Require every call to have the structure of the first.

        Raises
        ------
        ValueError
            If `only_one` is set and the structure differs.
        """
        for known, traced in self._traced:
            if known is form or same_structure(known, form):
                if traced is None:
                    return self._find_recorded(block, flat, form)
                if form == [0] * len(flat):
                    self._by_count[len(flat)] = traced
                return traced
        if only_one:
            self._refuse_other(block, form)
        try:
            if _of_numpy(flat):
                raise TraceError("symbols would not compute as arrays of mx.np do")
            traced = Traced(trace(block, form, len(flat)).partitioned(self._backend), self.flags)
        except TraceError:
            traced = None
        self._traced.append((form, traced))
        return self._find_recorded(block, flat, form) if traced is None else traced

    def _refuse_other(self, block, form):
        """Check that the inputs have the structure of the existing graph."""
        known_forms = [known for known, _ in self.traced()]
        if self._first_recorded is not None:
            known_forms.append(self._first_recorded.trace.in_form)
        if known_forms and not same_structure(known_forms[0], form):
            raise ValueError(
                f"{block.name}: the inputs are structured differently from those the graph was "
                f"traced with: expected {known_forms[0]}, got {form} (0 stands for an "
                "array, -1 for None)"
            )

    def _find_recorded(self, block, flat, form):
        """The Traced that was recorded on arrays for inputs of this signature, or None.

        MXNet 1.x blocks that cannot be traced symbolically run eagerly, as in MXNet 1.x.
        """
        if not is_np_array() and not _of_numpy(flat):
            return None
        key = (
            repr(form),
            is_np_array(),
            tuple([(type(a), a.shape, a.dtype_code, a.context) for a in flat]),
        )
        traced = self._by_signature.get(key)
        if traced is None:
            try:
                traced = self._record(block, flat, form)
                if traced.trace.depends_on_values():  # Python code may have read the shapes
                    raise TraceError(f"{block.name}: shapes depend on values")
            except TraceError as error:
                if "passes" in env.get("MXCY_VERBOSE") and self.why_eager is None:
                    print(f"mxcy: runs eagerly, not as a graph: {error}", file=sys.stderr)
                self.why_eager = self.why_eager or str(error)
                traced = _EAGER
            self._by_signature.put(key, traced)
        return None if traced is _EAGER else traced

    def _record(self, block, flat, form):
        """Record a trace; signatures with the same graph share one Traced."""
        block._settle_tree(regroup(list(flat), form))
        trace = record_trace(block, form, flat).partitioned(self._backend)
        text = repr((trace.form, trace.inputs, trace.symbol.tojson()))
        captured = [p for p in trace.parameters.values() if isinstance(p, CapturedArray)]
        traced = None if captured else self._graphs.get(text)
        if traced is None:
            traced = Traced(trace, self.flags)
            if not captured:
                self._graphs[text] = traced
        self._first_recorded = self._first_recorded or traced
        return traced

    def trace(self, block, flat, form):
        """Return the Trace for inputs, see `find`.

        Raises
        ------
        TraceError
            If the block cannot be traced.
        """
        traced = self.find(block, flat, form)
        return trace(block, form, len(flat)) if traced is None else traced.trace


def _of_numpy(flat):
    """Whether any input is an `mx.np` array."""
    return any([array._is_numpy for array in flat])


class Traced:
    """A trace compiled to a cached operator over inputs and parameters."""

    def __init__(self, trace, flags):
        self.trace = trace
        self._cached = CachedOp(trace.symbol, flags)
        position = {name: i for i, name in enumerate(trace.inputs)}
        # For each input of the symbol: its position in the call, or its Parameter.
        self._sources = [
            position[name] if name in position else trace.parameters[name]
            for name in trace.symbol.list_inputs()
        ]
        self._in_numpy = False  # whether parameters, and hence results, are `mx.np` arrays
        self._pending = True  # whether parameters may still lack their shapes
        self._places = [i for i, source in enumerate(self._sources) if isinstance(source, int)]
        self._cache = None  # the _ParameterCache of the last call

    @property
    def cached_op(self):
        """CachedOp: the operator that computes the symbol."""
        return self._cached

    def sources(self):
        """For each input of the symbol: (True, position in the call) or (False, Parameter)."""
        return [(isinstance(source, int), source) for source in self._sources]

    def run(self, flat, watch=None):
        """Compute the outputs for a flat list of input arrays."""
        if self._pending:
            self._settle(flat)
        context = flat[0].context
        cache = self._cache
        if watch is None and cache is not None and cache.serves(context):
            own = [flat[self._sources[place]] for place in self._places]
            results = self._cached.call_again(own, self._places, cache.arrays, cache.known)
        else:
            results = self._run_anew(flat, context, watch)
        if flat[0]._is_numpy or self._in_numpy:
            listed = results if isinstance(results, list) else [results]
            listed = [array.as_np_ndarray() for array in listed]
            results = listed if isinstance(results, list) else listed[0]
        form = self.trace.form
        if form == 0:
            return results
        return regroup(results if isinstance(results, list) else [results], form)

    def _run_anew(self, flat, context, watch):
        """Compute the outputs, looking up all parameters, and remember these."""
        arrays = [
            flat[source] if isinstance(source, int) else source.data(context)
            for source in self._sources
        ]
        self._cache = _ParameterCache.of(self._sources, arrays, context)
        if watch is None:
            return self._cached(*arrays)
        symbol = self.trace.symbol
        values = dict(zip(symbol.list_inputs(), arrays, strict=True))
        results = run_eagerly(symbol._entries, values, watch)
        return results[0] if len(results) == 1 else results

    def _settle(self, flat):
        """Finish deferred initializations with shapes inferred from the inputs."""
        waiting = [p for p in self._parameters() if p._deferred_init is not None]
        if waiting:
            infer_parameters(self.trace, flat)
            for parameter in waiting:
                parameter._finish_deferred_init()
        self._pending = False
        self._in_numpy = any(
            array._is_numpy for source in self._parameters() for array in source._list_arrays()
        )

    def _parameters(self):
        return [source for source in self._sources if not isinstance(source, int)]


class _ParameterCache:
    """The parameters' arrays, kept so that repeated calls need not query each parameter."""

    def __init__(self, parameters, arrays, context):
        self.arrays = arrays  # with None for inputs
        self._parameters, self._context = parameters, context
        self._lists = [parameter._data for parameter in parameters]
        self._assignments = assignments.count
        self.known = LRUCache(1)  # passed to CachedOp.call_again

    @classmethod
    def of(cls, sources, arrays, context):
        """Cache a call's arrays; None unless every parameter is ordinary and on one context."""
        parameters = [source for source in sources if not isinstance(source, int)]
        for parameter in parameters:
            lists = getattr(parameter, "_data", None)
            if type(parameter).data is not _DATA or lists is None or len(lists) != 1:
                return None
        if front.is_deferred():
            return None
        fixed = [
            None if isinstance(source, int) else array
            for source, array in zip(sources, arrays, strict=True)
        ]
        return cls(parameters, fixed, context)

    def serves(self, context):
        """Whether the cached arrays are still current; replacing them creates new lists."""
        if context is not self._context or front.is_deferred():
            return False
        count = assignments.count
        if self._assignments == count:  # of all parameters in the process
            return True
        lists = [parameter._data for parameter in self._parameters]
        same = all(map(is_, lists, self._lists))
        if same:
            self._assignments = count
        return same


def infer_parameters(trace, flat):
    """Set the unknown shapes of a trace's parameters from input arrays."""
    specs = partial_specs(trace.symbol, dict(zip(trace.inputs, flat, strict=True)))
    for name, parameter in trace.parameters.items():
        spec = specs[name]
        if not shape_is_known(parameter.shape) and spec.shape is not None:
            parameter.shape = tuple(0 if n == -1 else n for n in spec.shape)
