"""Executors of graphs in which something is sparse: they run operator by operator, on the tape.

How many elements sparse arrays store is known only when they are computed, so that no plan can
place them.
"""

from mxcy import autograd
from mxcy import ndarray as nd
from mxcy._base import dtypes
from mxcy._execute.eager import run_eagerly
from mxcy.base import MXNetError
from mxcy.executor import Executor, _head
from mxcy.graph.control import expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import topological
from mxcy.graph.storage_types import makes_sparse

__all__ = ["SparseExecutor", "is_sparse_call", "makes_sparse_values"]


def makes_sparse_values(entries):
    """Whether some operator of a symbol has sparse results or gradients of dense inputs."""
    return any(
        makes_sparse(node.op, node.parsed, len(node.inputs))
        for node in topological(entries)
        if node.op is not None and not node.op.in_symbols.subgraphs
    )


def is_sparse_call(arrays):
    """Whether one of some arrays (or None) is sparse."""
    return any(array is not None and array.stype != "default" for array in arrays)


class SparseExecutor(Executor):
    """An `Executor` that runs operator by operator; made by `bind` and `simple_bind`."""

    def _first_outputs(self):
        graph = expand(infer(from_entries(self._symbol._entries, False), self._known))
        specs = [graph.spec(entry) for entry in graph.outputs]
        return [
            nd.zeros(spec.shape, ctx=self._ctx, dtype=dtypes.name_of(spec.dtype)) for spec in specs
        ]

    def forward(self, is_train=False, **kwargs):
        """Compute the outputs; see `Executor.forward`."""
        if kwargs:
            self._take(kwargs)
        self._mode = bool(is_train)
        self._run(self._mode)
        return self.outputs

    def _run(self, recording):
        arrays = {**self.arg_dict, **self.aux_dict}
        wanted = self._wanted() if recording else []
        for name in wanted:
            arrays[name] = variable = arrays[name].detach()
            gradient = self.grad_dict[name]
            autograd.mark_variables([variable], [gradient], self._requests[name])
        watch = None if self._watcher is None else self._watcher.show_node
        before = autograd.set_recording(bool(wanted)), autograd.set_training(self._mode)
        try:
            self._taped = run_eagerly(self._symbol._entries, arrays, watch)
        finally:
            autograd.set_recording(before[0])
            autograd.set_training(before[1])
        self.outputs[:] = [array.detach() for array in self._taped]
        self._ran, self._spent = True, not wanted

    def backward(self, out_grads=None, is_train=True):
        """Compute the gradients of the arguments; see `Executor.backward`."""
        if not self._wanted():
            return
        if self._ran is None:
            self._mode = bool(is_train)
        if self._ran is None or self._spent:
            self._run(True)
        heads = self._heads(out_grads)
        taped = [
            (output, head)
            for output, head in zip(self._taped, heads, strict=False)
            if output.node is not None
        ]
        if taped:
            outputs, heads = zip(*taped, strict=True)
            autograd.backward(list(outputs), list(heads), retain_graph=True, train_mode=self._mode)

    def _heads_read(self):
        return range(len(self._output_names))

    def _head(self, name, gradient, output):
        return _head(name, gradient, output)

    def plan(self, is_train=False):
        """Refuse: there is no plan."""
        raise MXNetError("a graph with sparse arrays runs operator by operator: it has no plan")

    def describe(self, is_train=False):
        """What became of the graph: nothing."""
        return {}

    def debug_str(self):
        """Text about the graph: the symbol's."""
        return self._symbol.debug_str()

    def get_optimized_symbol(self):
        """The symbol that was bound."""
        return self._symbol
