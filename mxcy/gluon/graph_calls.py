"""Calls of a hybridized block as cached operators."""

import sys
from operator import is_

from mxcy import env
from mxcy._base.last_used import LastUsed
from mxcy._execute.cached_op import CachedOp
from mxcy._execute.eager import run_eagerly
from mxcy._library import front
from mxcy.gluon.noted_calls import Held, note
from mxcy.gluon.parameter_arrays import ParameterArrays
from mxcy.gluon.tracing import TraceError, regroup, same_structure, trace
from mxcy.gluon.utils import shape_is_known
from mxcy.ndarray import NDArray
from mxcy.symbol.inference import partial_specs
from mxcy.util import is_np_array

__all__ = ["OPTIONS", "GraphCalls", "Traced", "infer_parameters"]

#: flags of `HybridBlock.hybridize` that are a cached operator's
_FLAGS = (
    "static_alloc",
    "static_shape",
    "inline_limit",
    "forward_bulk_size",
    "backward_bulk_size",
    "mirror",
)
#: what `HybridBlock.hybridize` takes without a backend; those of MXNet that it needs no more, too
OPTIONS = (*_FLAGS, "data_indices", "param_indices", "is_dynamic", "partition_if_dynamic")


_DATA = ParameterArrays.data
#: what stands for calls that cannot be recorded and run without a graph
_PLAIN = object()


class GraphCalls:
    """The traces of a block, one for each structure of its inputs, or for each signature.

    It does not refer to the block, which refers to it.

    Parameters
    ----------
    flags : dict
        Of `HybridBlock.hybridize`.
    """

    def __init__(self, flags):
        self.flags = {name: flags[name] for name in _FLAGS if name in flags}
        self._traced = []  # (format, Traced or None where tracing failed)
        self._by_count = {}  # number of inputs -> Traced of calls whose inputs are all arrays
        self._noted = LastUsed(env.get("MXCY_CACHED_PLANS"))  # signature -> Traced or _PLAIN
        self._first_noted = None
        self._graphs = {}  # text of a graph that was noted -> Traced
        self.why_plain = None  # why the block runs as it is for some signature

    def traced(self):
        """Format of the inputs and Traced, for each structure that could be traced."""
        return [(form, traced) for form, traced in self._traced if traced is not None]

    def add(self, form, traced):
        """Take a Traced for inputs of a format."""
        self._traced.append((form, traced))

    def of_arrays(self, args):
        """The Traced for inputs that are arrays of one context and came before, else None."""
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
        """The Traced when there is one, else None."""
        traces = self.traced()
        return traces[0][1] if len(traces) == 1 else self._first_noted

    def only_trace(self):
        """The Trace when there is one, else None."""
        traced = self.only_traced()
        return None if traced is None else traced.trace

    def find(self, block, flat, form, only_one=False):
        """The Traced for inputs, None where tracing failed; traces the block if need be.

        Parameters
        ----------
        block : HybridBlock
        flat : list of NDArray
        form
            See `tracing.flatten`.
        only_one : bool
            Whether all calls must have the structure of the first.

        Raises
        ------
        ValueError
            When this call has another.
        """
        for known, traced in self._traced:
            if known is form or same_structure(known, form):
                if traced is None:
                    return self._find_noted(block, flat, form)
                if form == [0] * len(flat):
                    self._by_count[len(flat)] = traced
                return traced
        if only_one:
            self._refuse_other(block, form)
        try:
            if _of_numpy(flat):
                raise TraceError("symbols would not compute as arrays of mx.np do")
            traced = Traced(trace(block, form, len(flat)), self.flags)
        except TraceError:
            traced = None
        self._traced.append((form, traced))
        return self._find_noted(block, flat, form) if traced is None else traced

    def _refuse_other(self, block, form):
        """Refuse inputs of another structure than those for which there is a graph."""
        made = [known for known, _ in self.traced()]
        if self._first_noted is not None:
            made.append(self._first_noted.trace.in_form)
        if made and not same_structure(made[0], form):
            raise ValueError(
                f"{block.name}: the inputs are structured differently from those the graph was "
                f"traced with: expected {made[0]}, got {form} (0 stands for an "
                "array, -1 for None)"
            )

    def _find_noted(self, block, flat, form):
        """The Traced of a block that computes on arrays for inputs of this signature, or None.

        Blocks of MXNet 1.x that are no symbols run as they are, as in MXNet 1.x.
        """
        if not is_np_array() and not _of_numpy(flat):
            return None
        key = (
            repr(form),
            is_np_array(),
            tuple([(type(a), a.shape, a.dtype_code, a.context) for a in flat]),
        )
        traced = self._noted.get(key)
        if traced is None:
            try:
                traced = self._note(block, flat, form)
                if traced.trace.depends_on_values():  # Python code may have asked for the shapes
                    raise TraceError(f"{block.name}: shapes depend on values")
            except TraceError as error:
                if "passes" in env.get("MXCY_VERBOSE") and self.why_plain is None:
                    print(f"mxcy: not a graph but run as it is: {error}", file=sys.stderr)
                self.why_plain = self.why_plain or str(error)
                traced = _PLAIN
            self._noted.put(key, traced)
        return None if traced is _PLAIN else traced

    def _note(self, block, flat, form):
        """A new trace as a Traced; of traces with the same graph there is one only."""
        block._settle_tree(regroup(list(flat), form))
        trace = note(block, form, flat)
        text = repr((trace.form, trace.inputs, trace.symbol.tojson()))
        held = [p for p in trace.parameters.values() if isinstance(p, Held)]
        traced = None if held else self._graphs.get(text)
        if traced is None:
            traced = Traced(trace, self.flags)
            if not held:
                self._graphs[text] = traced
        self._first_noted = self._first_noted or traced
        return traced

    def trace(self, block, flat, form):
        """The Trace for inputs, see `find`.

        Raises
        ------
        TraceError
            When the block cannot be traced.
        """
        traced = self.find(block, flat, form)
        return trace(block, form, len(flat)) if traced is None else traced.trace


def _of_numpy(flat):
    """Whether an input is an array of `mx.np`."""
    return any([array._is_numpy for array in flat])


class Traced:
    """A trace as a cached operator over inputs and parameters."""

    def __init__(self, trace, flags):
        self.trace = trace
        self._cached = CachedOp(trace.symbol, flags)
        position = {name: i for i, name in enumerate(trace.inputs)}
        # For each input of the symbol its position among the arrays, or the parameter.
        self._sources = [
            position[name] if name in position else trace.parameters[name]
            for name in trace.symbol.list_inputs()
        ]
        self._in_numpy = False  # whether parameters are arrays of `mx.np`, and hence the results
        self._pending = True  # whether parameters may wait for their shapes
        self._places = [i for i, source in enumerate(self._sources) if isinstance(source, int)]
        self._held = None  # see _Held

    @property
    def cached_op(self):
        """CachedOp: what computes the symbol."""
        return self._cached

    def sources(self):
        """For each input of the symbol (True, its position in a call) or (False, a Parameter)."""
        return [(isinstance(source, int), source) for source in self._sources]

    def run(self, flat, watch=None):
        """The outputs for input arrays."""
        if self._pending:
            self._settle(flat)
        context = flat[0].context
        held = self._held
        steady = held is not None and held.serves(context)
        if steady:
            arrays = held.arrays.copy()
            for place in self._places:
                arrays[place] = flat[self._sources[place]]
        else:
            arrays = [
                flat[source] if isinstance(source, int) else source.data(context)
                for source in self._sources
            ]
            self._held = _Held.of(self._sources, arrays, context)
        if watch is None and steady:
            results = self._cached.call_again(arrays, held.known, self._places)
        elif watch is None:
            results = self._cached(*arrays)
        else:
            symbol = self.trace.symbol
            values = dict(zip(symbol.list_inputs(), arrays, strict=True))
            results = run_eagerly(symbol._entries, values, watch)
            results = results[0] if len(results) == 1 else results
        if flat[0]._is_numpy or self._in_numpy:
            listed = results if isinstance(results, list) else [results]
            listed = [array.as_np_ndarray() for array in listed]
            results = listed if isinstance(results, list) else listed[0]
        form = self.trace.form
        if form == 0:
            return results
        return regroup(results if isinstance(results, list) else [results], form)

    def _settle(self, flat):
        """Initialize parameters that wait for shapes, which the symbol infers from the inputs."""
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


class _Held:
    """The arrays of a trace's parameters, which calls need not ask for again one by one."""

    def __init__(self, parameters, arrays, context):
        self.arrays = arrays  # with None for inputs
        self._parameters, self._context = parameters, context
        self._lists = [parameter._data for parameter in parameters]
        self.known = LastUsed(1)  # what the last call with them found out

    @classmethod
    def of(cls, sources, arrays, context):
        """The arrays of a call, None unless all parameters are ordinary ones with one array."""
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
        """Whether parameters still have these arrays; whoever gives them others makes a list."""
        return (
            context is self._context
            and not front.is_deferred()
            and all(map(is_, [parameter._data for parameter in self._parameters], self._lists))
        )


def infer_parameters(trace, flat):
    """Set the unknown shapes of a trace's parameters from input arrays."""
    specs = partial_specs(trace.symbol, dict(zip(trace.inputs, flat, strict=True)))
    for name, parameter in trace.parameters.items():
        spec = specs[name]
        if not shape_is_known(parameter.shape) and spec.shape is not None:
            parameter.shape = tuple(0 if n == -1 else n for n in spec.shape)
