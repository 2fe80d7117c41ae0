"""Cached operators: symbols called with arrays like operators, executed as plans.

There is one plan per signature: shapes, dtypes, training mode, and which inputs require gradients.
Hybridized blocks are cached operators.
"""

import functools
import sys
from typing import Any

from mxcy import autograd, env
from mxcy._base.errors import MXNetError
from mxcy._base.lru_cache import LRUCache
from mxcy._execute import control
from mxcy._execute.eager import run_eagerly, runner
from mxcy._execute.planned import Planned, target, training_graph
from mxcy._execute.repeated import Repeated, whole
from mxcy._library import front
from mxcy._library.api_calls import api_call
from mxcy.context import current_context
from mxcy.graph.control import CACHED_OP, expand, looks_at_values
from mxcy.graph.gradient import HEAD
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.json import dumps
from mxcy.graph.node import SymbolNode, topological
from mxcy.graph.passes import mirror
from mxcy.graph.storage_types import makes_sparse
from mxcy.graph.subgraphs import cut
from mxcy.ndarray.gradient_targets import apart
from mxcy.ndarray.register import F
from mxcy.ops.core.infer import Spec

__all__ = ["CachedOp"]

_FLAGS: dict[str, Any] = {
    "static_alloc": False,
    "static_shape": False,
    "inline_limit": 2,
    "forward_bulk_size": None,
    "backward_bulk_size": None,
    "data_indices": (),
    "param_indices": (),
    "is_dynamic": False,
    "mirror": None,
}


class CachedOp:
    """A symbol callable as an operator.

    Parameters
    ----------
    sym : Symbol
    flags : sequence of (str, value) or dict
        ``static_alloc``: keep the memory of a plan between calls. ``inline_limit``: graphs with at
        most this many operators run op by op. ``is_dynamic``: all graphs do, as those with
        value-dependent shapes always do. ``mirror="sqrt"``: training keeps only the tensors at
        stage boundaries and recomputes the others. The other flags do not affect results.

    Raises
    ------
    MXNetError
        For an unknown flag, or an unknown value of `mirror`.
    """

    def __init__(self, sym, flags=()):
        self._symbol_class = type(sym)
        self._entries = list(sym._entries)
        self._names = sym.list_inputs()
        self.flags = dict(_FLAGS)
        for name, value in dict(flags).items():
            if name not in _FLAGS:
                raise MXNetError(f"CachedOp: unknown flag {name}, expected {', '.join(_FLAGS)}")
            self.flags[name] = _FLAGS[name] if value is None else _parsed(value)
        if self.flags["mirror"] not in (None, "sqrt"):
            raise MXNetError(f"CachedOp: mirror must be None or 'sqrt', got {self.flags['mirror']}")
        self._order = topological(self._entries)
        operations = [node for node in self._order if node.op is not None]
        loops = any(node.op.in_symbols.subgraphs for node in operations)
        self._eager = (
            (len(operations) <= int(self.flags["inline_limit"]) and not loops)
            or bool(self.flags["is_dynamic"])
            or any(node.op.eager is not None for node in operations)
        )
        self._is_cut = any(
            looks_at_values(node)
            if node.op.in_symbols.subgraphs
            else makes_sparse(node.op, node.parsed, len(node.inputs))
            for node in operations
        )
        self._plans = LRUCache(env.get("MXCY_CACHED_PLANS"))
        self._cuts = LRUCache(env.get("MXCY_CACHED_PLANS"))

    @api_call("MXInvokeCachedOpEx")
    def __call__(self, *args, out=None, default_ctx=None):
        """Compute the outputs.

        Parameters
        ----------
        *args : NDArray
            One per input of the symbol, in the order of ``list_inputs``.
        out : NDArray or list of NDArray, optional
            Arrays to write the outputs to.

        Returns
        -------
        NDArray or list of NDArray
        """
        if len(args) != len(self._names):
            raise MXNetError(
                f"CachedOp: expected {len(self._names)} arrays ({', '.join(self._names)}), "
                f"got {len(args)}"
            )
        if self._eager or front.is_deferred():
            values = dict(zip(self._names, args, strict=True))
            outputs = run_eagerly(self._entries, values, order=self._order)
        else:
            pieces = self._pieces(args)
            outputs = self._run(args) if pieces is None else pieces.run(args)
        if out is not None:
            targets = out if isinstance(out, (list, tuple)) else [out]
            for array, target in zip(outputs, targets, strict=True):
                F._copy(array, out=target)
            return out
        return outputs[0] if len(outputs) == 1 else outputs

    @api_call("MXInvokeCachedOpEx")
    def call_again(self, own, places, others, known):
        """Compute the outputs of a call whose inputs are mostly those of preceding calls.

        Parameters
        ----------
        own : list of NDArray
            The inputs that may differ between calls.
        places : sequence of int
            Their positions.
        others : list of (NDArray or None)
            All inputs, arbitrary at `places`.
        known : LRUCache
            The plan found by preceding calls, valid while `places` and `others` are the same.

        Returns
        -------
        NDArray or list of NDArray
        """
        if self._eager or autograd.is_recording():
            return self(*whole(own, places, others))
        signature = [(array.context, array.shape, array.dtype_code, array.stype) for array in own]
        key = autograd.is_training(), tuple(signature)
        repeated = known.get(key)
        if repeated is None or not self._plans.is_newest(repeated.bound):  # keep the LRU order
            args = whole(own, places, others)
            if front.is_deferred() or self._pieces(args) is not None:
                return self(*args)
            repeated = known.put(key, Repeated(self._bound(args), places, others))
        outputs = repeated.run(own)
        return outputs[0] if len(outputs) == 1 else outputs

    @property
    def handle(self):
        """CachedOp: the object itself, in place of an address."""
        return self

    @property
    def is_np_sym(self):
        """bool: whether the results are arrays of `mx.np`."""
        return False

    def get_optimized_symbol(self):
        """Return the symbol that calls compute.

        Returns
        -------
        Symbol
        """
        return self._symbol_class(list(self._entries))

    def plan(self, *args):
        """The plan of a call with these arrays, for inspection: `mxcy.graph.planning.plan.Plan`."""
        return self._bound(args).planned.plan

    def describe(self, *args):
        """The optimized graph of such a call as a dict, see `planning.report.describe`."""
        return self._bound(args).planned.describe()

    def run_alone(self, *args):
        """The names of the operators that such a call runs outside a plan, as a list of str.

        These are all, none, or those with sparse values or gradients and control flow that depends
        on values.
        """
        if self._eager:
            return [node.name for node in self._order if node.op is not None]
        pieces = self._pieces(args)
        return [] if pieces is None else pieces.run_alone

    def _pieces(self, args):
        """The pieces into which a call is split; None if one plan runs all of it."""
        if not self._is_cut and all([array.stype == "default" for array in args]):
            return None
        recording = autograd.is_recording()
        signature = [(array.shape, array.dtype_code, array.stype) for array in args]
        key = recording, tuple(signature)
        pieces = self._cuts.get(key)
        if pieces is None:
            pieces = self._cuts.put(key, _Pieces(self, recording, args))
        return pieces if pieces.run_alone else None

    def _bound(self, args):
        recording = autograd.is_recording()
        wanted = tuple([recording and front.history(array) is not None for array in args])
        key = (
            autograd.is_training(),
            wanted,
            args[0].context if args else current_context(),
            tuple([(array.shape, array.dtype_code) for array in args]),
        )
        bound = self._plans.get(key)
        if bound is None:
            bound = self._plans.put(key, _Bound(self, key[0], wanted, args))
        return bound

    def _run(self, args):
        bound = self._bound(args)
        outputs, arrays, arena = bound.forward(args)
        if any(bound.wanted):
            node = front.Node()
            node.custom = _Recorded(self, bound, args, outputs, arrays, arena)
            node.parents = tuple([array.node for array in args])
            node.positions = tuple([array.node_index for array in args])
            for index, array in enumerate(outputs):
                array.node, array.node_index = node, index
        return outputs


class _Pieces:
    """A cached operator split into smaller ones and operators that run individually."""

    def __init__(self, cached, recording, args):
        names = cached._names
        known = {
            name: Spec(array.shape, array.dtype_code)
            for name, array in zip(names, args, strict=True)
        }
        stypes = {name: array.stype for name, array in zip(names, args, strict=True)}
        parts = cut(cached._entries, known, stypes, recording)
        if env.get("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING"):
            lines = ["storage types of a graph:", *parts.lines]
            print(*lines, sep="\n", file=sys.stderr, flush=True)
        self._variables, self._outputs = parts.variables, parts.outputs
        self.run_alone = [piece.node.name for piece in parts.pieces if piece.node is not None]
        self._runs = [(self._runner(cached, piece), piece) for piece in parts.pieces]

    @staticmethod
    def _runner(cached, piece):
        if piece.node is None:
            return _of_list(cached, piece.entries)
        if looks_at_values(piece.node):
            return control.runner(piece.node, functools.partial(_of_list, cached))
        return runner(piece.node)

    def run(self, args):
        """Compute the outputs of a call."""
        values = dict(zip(self._variables, args, strict=True))
        for run, piece in self._runs:
            values.update(zip(piece.outputs, run([values[i] for i in piece.inputs]), strict=False))
        return [values[i] for i in self._outputs]


def _of_list(cached, entries, expanded=False):
    """Make a function that computes a list of a subgraph's outputs from a list of inputs.

    With `expanded` it is not split, so that a plan runs all steps of its loops.
    """
    smaller, known = CachedOp(cached._symbol_class(entries), cached.flags), LRUCache(1)
    smaller._is_cut = smaller._is_cut and not expanded
    count = len(smaller._names)
    places, others = range(count), [None] * count

    def run(inputs):
        outputs = smaller.call_again(inputs, places, others, known)
        return [outputs] if len(entries) == 1 else outputs

    return run


class _Bound:
    """The plan of a cached operator for one signature."""

    def __init__(self, cached, training, wanted, args):
        known = {
            name: Spec(array.shape, array.dtype_code)
            for name, array in zip(cached._names, args, strict=True)
        }
        graph = expand(infer(from_entries(cached._entries, training), known))
        self.count = len(graph.outputs)
        self.wanted = wanted
        context = args[0].context if args else current_context()
        if any(wanted):
            names = [name for name, want in zip(cached._names, wanted, strict=True) if want]
            graph = training_graph(graph, names, context=context.home)
            if cached.flags["mirror"]:
                graph = mirror.marked(graph, mirror.staged(graph, target()))
        self.planned = Planned(graph, context.home)
        position = {name: i for i, name in enumerate(cached._names)}
        self.sources = [position.get(name, -1) for name in self.planned.variables]
        self.heads = [
            (slot, int(name[len(HEAD) :]))
            for slot, name in enumerate(self.planned.variables)
            if name.startswith(HEAD)
        ]
        self._keeps = bool(cached.flags["static_alloc"])
        self._arena = None  # kept between calls; taken away while a call uses it

    def forward(self, args):
        """Run a call; return (outputs, arrays of all the plan's slots, arena)."""
        outputs = self.planned.new_outputs(self.count)
        # Any array will do for the head gradients until the backward pass.
        arrays = [args[i] if i >= 0 else outputs[0] for i in self.sources]
        arrays += outputs
        return outputs, arrays, self.run(arrays)

    def run(self, arrays):
        """Run the forward pass on the arrays of the plan's slots; return the arena."""
        arena, self._arena = self._arena, None
        if arena is None:
            arena = self.planned.new_arena()
        self.planned.forward(arrays, arena)
        if not any(self.wanted):
            self.give_back(arena)
        return arena

    def give_back(self, arena):
        """Let the next call use an arena, even while the engine still runs the last one."""
        if self._keeps:
            self._arena = arena


class _Recorded:
    """A recorded call, whose backward pass continues in the arena of the forward pass.

    Attributes
    ----------
    makes_gradients : bool
        Whether the gradients are new arrays, so that variables may take ownership of them.
    takes_targets : bool
        Whether gradients can be written into given arrays, `targets`: one per input, or None.
    """

    makes_gradients = takes_targets = True

    def __init__(self, cached, bound, args, outputs, arrays, arena):
        self._cached, self._bound, self._args = cached, bound, args
        self._slots = len(bound.planned.variables)
        # The outputs refer to the tape's node, which refers to this object: keep only views.
        self._arrays = arrays[: self._slots] + [array.detach() for array in outputs]
        for slot, _ in bound.heads:
            self._arrays[slot] = None
        self._arena, self.targets = arena, None

    def _gradients(self, arrived, keep):
        """Compute the inputs' gradients from the outputs', None for inputs that require none."""
        outputs = self._arrays[self._slots :]
        heads = [arrived.get(i) for i in range(len(outputs))]
        heads = [F.zeros_like(o) if h is None else h for h, o in zip(heads, outputs, strict=True)]
        if autograd.is_recording():
            return self._differentiable(heads)
        planned, arena = self._bound.planned, self._arena
        if keep:  # the backward pass overwrites results of the forward pass
            arena = arena.copy()
        arrays = list(self._arrays)
        for slot, position in self._bound.heads:
            arrays[slot] = heads[position]
        gradients = planned.new_gradients(len(outputs), self._targets([arena, *arrays]))
        planned.backward(arrays + gradients, arena)
        if not keep:
            self._arena = None
            self._bound.give_back(arena)
        left = iter(gradients)
        return [next(left) if want else None for want in self._bound.wanted]

    def _targets(self, arrays):
        """The targets to which gradients may be written, as they share no memory with `arrays`."""
        if self.targets is None:
            return ()
        pairs = zip(self.targets, self._bound.wanted, strict=True)
        wanted = [target for target, want in pairs if want]
        self.targets = None
        return apart(wanted, [array for array in arrays if array is not None])

    def _expressed(self, name, inputs):
        """The outputs as symbol entries, given those of the inputs; see `mxcy.symbol.recorded`."""
        entries = self._cached._entries
        node = SymbolNode(CACHED_OP, name, {"body": dumps(entries)}, inputs)
        return [(node, index) for index in range(len(entries))]

    def _differentiable(self, heads):
        """Compute the gradients by operators on the tape, for higher derivatives."""
        inputs = dict(zip(self._cached._names, self._args, strict=True))
        outputs = run_eagerly(self._cached._entries, inputs)
        wanted = [a for a, want in zip(self._args, self._bound.wanted, strict=True) if want]
        grads = iter(autograd.grad(outputs, wanted, heads, retain_graph=True, create_graph=True))
        return [next(grads) if want else None for want in self._bound.wanted]


def _parsed(value):
    """Parse a flag's value, which may be a str."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    return value
