"""Calls of a hybridized block as cached operators."""

from mxcy.cached_op import CachedOp, run_eagerly
from mxcy.gluon.tracing import TraceError, regroup, trace
from mxcy.gluon.utils import shape_is_known
from mxcy.symbol.inference import partial_specs

__all__ = ["GraphCalls", "Traced", "infer_parameters"]

#: flags of `HybridBlock.hybridize` that are a cached operator's
_FLAGS = (
    "static_alloc", "static_shape", "inline_limit", "forward_bulk_size", "backward_bulk_size",
    "mirror",
)  # fmt: skip


class GraphCalls:
    """The traces of a block, one for each structure of its inputs.

    Parameters
    ----------
    block : HybridBlock
    flags : dict
        Of `HybridBlock.hybridize`.
    """

    def __init__(self, block, flags):
        self._block = block
        self.flags = {name: flags[name] for name in _FLAGS if name in flags}
        self._traced = []  # (format, Traced or None where tracing failed)

    def traced(self):
        """Format of the inputs and Traced, for each structure that could be traced."""
        return [(form, traced) for form, traced in self._traced if traced is not None]

    def add(self, form, traced):
        """Take a Traced for inputs of a format."""
        self._traced.append((form, traced))

    def only_trace(self):
        """The Trace when there is one, else None."""
        found = [traced.trace for _, traced in self.traced()]
        return found[0] if len(found) == 1 else None

    def can_run(self, flat, form):
        """Whether a call with these arrays can run as a graph; traces the block if need be."""
        return self._find(flat, form) is not None

    def run(self, flat, form, watch=None):
        """The block's outputs; `watch` sees every operator, see `mxcy.cached_op.run_eagerly`."""
        return self._find(flat, form).run(flat, watch)

    def _find(self, flat, form):
        for known, traced in self._traced:
            if known is form or known == form:
                return traced
        try:
            made = Traced(trace(self._block, form, len(flat)), self.flags)
        except TraceError:
            made = None
        self._traced.append((form, made))
        return made


class Traced:
    """A trace as a cached operator over inputs and parameters."""

    def __init__(self, found, flags):
        self.trace = found
        self._cached = CachedOp(found.symbol, flags)
        position = {name: i for i, name in enumerate(found.inputs)}
        # For each input of the symbol its position among the arrays, or the parameter.
        self._sources = [
            position[name] if name in position else found.parameters[name]
            for name in found.symbol.list_inputs()
        ]
        self._pending = True  # whether parameters may wait for their shapes

    def run(self, flat, watch=None):
        """The outputs for input arrays."""
        if self._pending:
            self._settle(flat)
        context = flat[0].context
        arrays = [
            flat[source] if isinstance(source, int) else source.data(context)
            for source in self._sources
        ]
        if watch is None:
            found = self._cached(*arrays)
        else:
            symbol = self.trace.symbol
            values = dict(zip(symbol.list_inputs(), arrays, strict=True))
            found = run_eagerly(symbol._entries, values, watch)
            found = found[0] if len(found) == 1 else found
        form = self.trace.form
        if form is None:
            return found
        return regroup(found if isinstance(found, list) else [found], form)

    def _settle(self, flat):
        """Initialize parameters that wait for shapes, which the symbol infers from the inputs."""
        waiting = [p for p in self._parameters() if p._deferred_init is not None]
        if waiting:
            infer_parameters(self.trace, flat)
            for parameter in waiting:
                parameter._finish_deferred_init()
        self._pending = False

    def _parameters(self):
        return [source for source in self._sources if not isinstance(source, int)]


def infer_parameters(trace, flat):
    """Set the unknown shapes of a trace's parameters from input arrays."""
    specs = partial_specs(trace.symbol, dict(zip(trace.inputs, flat, strict=True)))
    for name, parameter in trace.parameters.items():
        spec = specs[name]
        if not shape_is_known(parameter.shape) and spec.shape is not None:
            parameter.shape = tuple(0 if n == -1 else n for n in spec.shape)
