"""The graph of a hybrid block, also under the private names that published programs access."""

from mxcy import symbol
from mxcy._library import front
from mxcy.gluon.graph_calls import GraphCalls
from mxcy.gluon.tracing import flatten, holds_values
from mxcy.ndarray import NDArray

__all__ = ["CachedGraph"]


class CachedGraph:
    """Mixin of `HybridBlock` that holds its graph.

    mxboard draws ``_cached_graph``, GluonTS stores ``_in_format`` and ``_out_format``, mixed
    precision and quantization read ``_cached_op_args``; others override or call
    ``_clear_cached_op``. All have the meaning they have in MXNet 1.9.1.
    """

    _calls = None  # a GraphCalls while the block runs as a graph

    def _clear_cached_op(self):
        """Drop the graph; the next call traces again."""
        self._calls = None

    def _only_trace(self):
        """The only Trace of the block; None if there are several or none."""
        return None if self._calls is None else self._calls.only_trace()

    def _only_traced(self):
        """The `Traced` of `_only_trace`, or None."""
        return None if self._calls is None else self._calls.only_traced()

    @property
    def _cached_graph(self):
        """tuple: (symbols of the inputs, symbol of the outputs); () before the first call."""
        trace = self._only_trace()
        return () if trace is None else (trace.input_symbols(), trace.symbol)

    @property
    def _cached_op(self):
        """CachedOp or None: the operator that runs the graph."""
        traced = self._only_traced()
        return None if traced is None else traced.cached_op

    @property
    def _cached_op_args(self):
        """list: for each input of the graph (True, its position) or (False, the Parameter)."""
        traced = self._only_traced()
        return [] if traced is None else traced.sources()

    @property
    def _in_format(self):
        """list: how the inputs are nested, see `tracing.flatten`; None before a call."""
        trace = self._only_trace()
        return None if trace is None else trace.in_form

    @property
    def _out_format(self):
        """int or list: how the outputs are nested; None before a call."""
        trace = self._only_trace()
        return None if trace is None else trace.form

    def _get_graph(self, *args):
        """The input symbols and the output symbol of the graph traced for these inputs."""
        flat, form = flatten(args)
        if self._calls is None:
            self._calls = GraphCalls(self._flags)
        trace = self._calls.trace(self, flat, form)
        return trace.input_symbols(), trace.symbol

    def _graph_for(self, flat, form):
        """The Traced that runs a call with these inputs; None if the call must run eagerly."""
        if front.is_deferred():  # already inside a trace
            return None
        strict = self._computes_in_hybrid or self._follows_mxnet_2()
        if strict:
            self._check_inputs(flat, form)
        elif holds_values(form) or not all(isinstance(array, NDArray) for array in flat):
            return None  # every number passed would need a graph of its own
        if self._calls is None:
            self._calls = GraphCalls(self._flags)
        return self._calls.find(self, flat, form, strict)

    def _check_inputs(self, flat, form):
        """Check that a graph can take these inputs.

        Raises
        ------
        ValueError
            If the inputs are not None or (nested lists of) arrays on one context.
        """
        if holds_values(form):
            raise ValueError(
                f"{self.name}: the inputs of a hybridized block must be arrays, None or nested "
                "lists of them, got other values among them"
            )
        check_arrays(self, flat)
        if len(flat) > 1:
            first = flat[0].context
            for array in flat:
                if array.context is not first and array.context.home != first.home:
                    raise ValueError(
                        f"{self.name}: the inputs of a hybridized block must be on one context, "
                        f"got {first} and {array.context}"
                    )


def check_arrays(block, flat):
    """Check that the inputs are all arrays or all symbols.

    Raises
    ------
    ValueError
    """
    if len(flat) > 1 and len({isinstance(value, symbol.Symbol) for value in flat}) > 1:
        raise ValueError(
            f"{block.name}: the inputs of a block must be all arrays or all symbols, got both"
        )
