"""The graph of a hybrid block, also by the names under which published programs look at it."""

from mxcy import symbol
from mxcy._library import front
from mxcy.gluon.graph_calls import GraphCalls
from mxcy.gluon.tracing import flatten, holds_values
from mxcy.ndarray import NDArray

__all__ = ["CachedGraph"]


class CachedGraph:
    """The part of `HybridBlock` that keeps its graph.

    mxboard draws ``_cached_graph``, GluonTS stores ``_in_format`` and ``_out_format``, mixed
    precision and quantization read ``_cached_op_args``; others override or call
    ``_clear_cached_op``. They are what MXNet 1.9.1 has by these names.
    """

    _calls = None  # a GraphCalls while the block runs as a graph

    def _clear_cached_op(self):
        """Forget the graph; the next call makes a new one."""
        self._calls = None

    def _only_trace(self):
        """The Trace of the block when it has been traced in one way, else None."""
        return None if self._calls is None else self._calls.only_trace()

    def _only_traced(self):
        """The Traced of that trace, else None."""
        return None if self._calls is None else self._calls.only_traced()

    @property
    def _cached_graph(self):
        """tuple: the symbols of the inputs and the symbol of the outputs; () before a call."""
        trace = self._only_trace()
        return () if trace is None else (trace.input_symbols(), trace.symbol)

    @property
    def _cached_op(self):
        """CachedOp or None: what runs the graph."""
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
        """The symbols of the inputs and that of the outputs, made for inputs such as these."""
        flat, form = flatten(args)
        if self._calls is None:
            self._calls = GraphCalls(self._flags)
        trace = self._calls.trace(self, flat, form)
        return trace.input_symbols(), trace.symbol

    def _graph_for(self, flat, form):
        """The Traced that runs a call with these inputs; None if it must run without a graph."""
        if front.is_deferred():  # a part of what is being traced
            return None
        strict = self._computes_in_hybrid or self._follows_mxnet_2()
        if strict:
            self._check_inputs(flat, form)
        elif holds_values(form) or not all(isinstance(array, NDArray) for array in flat):
            return None  # a graph for each number that is ever passed would be no help
        if self._calls is None:
            self._calls = GraphCalls(self._flags)
        return self._calls.find(self, flat, form, strict)

    def _check_inputs(self, flat, form):
        """Refuse what graphs cannot take.

        Raises
        ------
        ValueError
            When the inputs are not arrays of one context, in lists, or None.
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
    """Refuse inputs of which some are arrays and some symbols.

    Raises
    ------
    ValueError
    """
    if len(flat) > 1 and len({isinstance(value, symbol.Symbol) for value in flat}) > 1:
        raise ValueError(
            f"{block.name}: the inputs of a block must be all arrays or all symbols, got both"
        )
