"""Calls of a hybridized block as cached operators."""

from mxcy.cached_op import CachedOp
from mxcy.gluon.tracing import TraceError, regroup, trace
from mxcy.gluon.utils import shape_is_known
from mxcy.symbol.inference import partial_specs

__all__ = ["GraphCalls", "Traced"]

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
        self._flags = {name: flags[name] for name in _FLAGS if name in flags}
        self._traced = []  # (format, Traced or None where tracing failed)

    def only_trace(self):
        """The Trace when there is one, else None."""
        found = [traced.trace for _, traced in self._traced if traced is not None]
        return found[0] if len(found) == 1 else None

    def can_run(self, flat, form):
        """Whether a call with these arrays can run as a graph; traces the block if need be."""
        return self._find(flat, form) is not None

    def run(self, flat, form):
        """The block's outputs."""
        return self._find(flat, form).run(flat)

    def _find(self, flat, form):
        for known, traced in self._traced:
            if known is form or known == form:
                return traced
        try:
            made = Traced(trace(self._block, form, len(flat)), self._flags)
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

    def run(self, flat):
        """The outputs for input arrays."""
        if self._pending:
            self._settle(flat)
        context = flat[0].context
        arrays = [
            flat[source] if isinstance(source, int) else source.data(context)
            for source in self._sources
        ]
        found = self._cached(*arrays)
        form = self.trace.form
        if form is None:
            return found
        return regroup(found if isinstance(found, list) else [found], form)

    def _settle(self, flat):
        """Initialize parameters that wait for shapes, which the symbol infers from the inputs."""
        waiting = [p for p in self._parameters() if p._pending is not None]
        if waiting:
            given = dict(zip(self.trace.inputs, flat, strict=True))
            specs = partial_specs(self.trace.symbol, given)
            for name, parameter in self.trace.parameters.items():
                spec = specs[name]
                if not shape_is_known(parameter.shape) and spec.shape is not None:
                    parameter.shape = tuple(0 if n == -1 else n for n in spec.shape)
            for parameter in waiting:
                parameter._finish_deferred_init()
        self._pending = False

    def _parameters(self):
        return [source for source in self._sources if not isinstance(source, int)]
