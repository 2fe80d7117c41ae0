"""Executors of graphs with sparse arrays or value-dependent shapes.

The sizes of such arrays are only known once they are computed, so no plan can allocate them.
Cached operators on the tape run these parts op by op, and the dense subgraphs between them as
plans.
"""

from mxcy import autograd
from mxcy import ndarray as nd
from mxcy._base import dtypes
from mxcy._execute.cached_op import CachedOp
from mxcy._execute.eager import run_eagerly
from mxcy._execute.executor import Executor
from mxcy._execute.executor_arrays import head_gradient
from mxcy._semantics.switches import np_shape
from mxcy.base import MXNetError
from mxcy.graph.control import expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer, infer_partial
from mxcy.graph.node import topological
from mxcy.graph.storage_types import makes_sparse
from mxcy.ops.core.infer import Spec

__all__ = ["SparseExecutor", "is_sparse_call", "makes_sparse_values"]


def makes_sparse_values(entries):
    """Whether any operator of a symbol has sparse results or gradients for dense inputs."""
    return any(
        makes_sparse(node.op, node.parsed, len(node.inputs))
        for node in topological(entries)
        if node.op is not None and not node.op.in_symbols.subgraphs
    )


def is_sparse_call(arrays):
    """Whether any of some arrays (or None) is sparse."""
    return any(array is not None and array.stype != "default" for array in arrays)


class SparseExecutor(Executor):
    """An `Executor` that runs a cached operator, created by `bind` and `simple_bind`."""

    def __init__(self, symbol, ctx, args, args_grad, grad_req, aux_states, partitioned=None):
        partitioned = symbol if partitioned is None else partitioned
        self._cached = CachedOp(partitioned)
        self._inputs = partitioned.list_inputs()
        super().__init__(symbol, ctx, args, args_grad, grad_req, aux_states, partitioned)

    def _first_outputs(self):
        graph = from_entries(self._partitioned._entries, False)
        if self._symbol.has_dynamic_shape_op():
            inferred = infer_partial(graph, self._known)
            specs = [inferred[number][index] for number, index in graph.outputs]
            specs = [spec if spec.known else Spec((0,), spec.dtype or 0) for spec in specs]
        else:
            graph = expand(infer(graph, self._known))
            specs = [graph.spec(entry) for entry in graph.outputs]
        with np_shape(True):
            return [
                nd.zeros(spec.shape, ctx=self._ctx, dtype=dtypes.name_of(spec.dtype))
                for spec in specs
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
        before = autograd.set_recording(bool(wanted)), autograd.set_training(self._mode)
        try:
            self._taped = self._computed(arrays)
        finally:
            autograd.set_recording(before[0])
            autograd.set_training(before[1])
        outputs = [array.detach() for array in self._taped]
        if self._symbol._is_numpy:
            outputs = [array.as_np_ndarray() for array in outputs]
        self.outputs[:] = outputs
        self._ran, self._spent = True, not wanted

    def _computed(self, arrays):
        """Compute the outputs, op by op if there is a monitor."""
        if self._watcher is not None:
            return run_eagerly(self._partitioned._entries, arrays, self._watcher.show_node)
        outputs = self._cached(*[arrays[name] for name in self._inputs])
        return outputs if isinstance(outputs, list) else [outputs]

    def backward(self, out_grads=None, is_train=True):
        """Compute the gradients of the arguments; see `Executor.backward`."""
        if not self._wanted():
            return
        if self._ran is None:
            self._mode = bool(is_train)
        if self._ran is None:
            self._run(True)
        elif self._spent:  # update states only once
            states = [array.copy() for array in self.aux_arrays]
            self._run(True)
            for array, state in zip(self.aux_arrays, states, strict=True):
                array[:] = state
        heads = self._heads(out_grads)
        taped = [
            (output, head)
            for output, head in zip(self._taped, heads, strict=False)
            if output.node is not None
        ]
        if taped:
            outputs, heads = zip(*taped, strict=True)
            autograd.backward(list(outputs), list(heads), train_mode=self._mode)
        self._spent = True

    def _heads_read(self):
        return range(len(self._output_names))

    def _head(self, name, gradient, output):
        return head_gradient(name, gradient, output)

    def plan(self, is_train=False):
        """Raise an error: there is no single plan."""
        raise MXNetError(
            "a graph with sparse arrays has no single plan; only its dense subgraphs have plans"
        )

    def describe(self, is_train=False):
        """Return an empty description: there is no single plan."""
        return {}

    def debug_str(self):
        """Return the symbol's text."""
        return self._symbol.debug_str()

    def get_optimized_symbol(self):
        """Return the symbol that is computed."""
        return self._partitioned
