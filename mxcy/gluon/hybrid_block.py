"""Hybrid blocks: one definition that runs eagerly or as a graph."""

import inspect

from mxcy import autograd, symbol
from mxcy import ndarray as nd
from mxcy._library.c_interface import CallbackText
from mxcy.context import current_context
from mxcy.gluon.cached_graph import CachedGraph, check_arrays
from mxcy.gluon.constraints import OptConstraint
from mxcy.gluon.graph_calls import check_options, infer_parameters
from mxcy.gluon.lazy_operators import LazyNamespace, LazyParameter
from mxcy.gluon.parameter import DeferredInitializationError
from mxcy.gluon.parameter_files import save_arrays
from mxcy.gluon.plain_block import Block
from mxcy.gluon.tracing import flatten, trace
from mxcy.gluon.utils import shape_is_known
from mxcy.ndarray import NDArray
from mxcy.ops.core.in_symbols import monitored_inputs, monitored_outputs
from mxcy.symbol import Symbol

__all__ = ["HybridBlock", "calls_hybrid_forward"]


def calls_hybrid_forward(function):
    """Mark a `forward` that only names its arguments and delegates to `HybridBlock.forward`."""
    function.calls_hybrid_forward = True
    return function


def without_arrays(args):
    """ValueError: the error for a call in which no input is an array."""
    kinds = ", ".join(f"{type(a).__module__}.{type(a).__name__}" for a in args)
    return ValueError(
        "In HybridBlock, there must be one NDArray or one Symbol in the input. "
        f"Please check the type of the args: got {kinds.replace('builtins.', '')}"
    )


class HybridBlock(CachedGraph, Block):
    """A block whose computation can also run as a graph; all its children are hybrid.

    Subclasses compute in ``hybrid_forward(F, x, *args, **params)``, with operators taken from `F`
    and own parameters passed by name (MXNet 1.x), or in ``forward(x, *args)`` (MXNet 2.x).

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    OptConstraint = OptConstraint
    _computes_in_hybrid = True  # whether it defines `hybrid_forward` rather than `forward`

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._computes_in_hybrid = getattr(cls.forward, "calls_hybrid_forward", False)

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix, params)
        self._active = self._settles_first = False
        self._flags = {}
        self._op_hook = None  # callback of `run_eagerly` that sees each operator's arrays

    def register_child(self, block, name=None):
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block!r} has type "
                f"{type(block)}. If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def _register_parameter(self, parameter, name):
        super()._register_parameter(parameter, name)
        self._clear_cached_op()

    def _has_own_hybrid_forward(self):
        """Whether a user's class defines `hybrid_forward`."""
        home = getattr(type(self).hybrid_forward, "__module__", None) or ""
        return home.partition(".")[0] != "mxcy"

    def _is_of_mxnet_2(self):
        return not self._has_own_hybrid_forward() and super()._is_of_mxnet_2()

    def cast(self, dtype):
        """Change the element type of the block and all its children, see `Block.cast`."""
        super().cast(dtype)
        self._clear_cached_op()

    def hybridize(
        self,
        active=True,
        backend=None,
        clear=True,
        static_alloc=False,
        static_shape=False,
        inline_limit=2,
        forward_bulk_size=None,
        backward_bulk_size=None,
        **kwargs,
    ):
        """Run as a graph: trace the computation once and plan it for each signature.

        Blocks whose computation reads values or uses outside arrays cannot be traced; they keep
        running eagerly while their children run as graphs.

        Parameters
        ----------
        active : bool
            On or off.
        backend : str, optional
            Name of a backend that optimizes the graph; ``'default'`` encloses the operators
            selected by ``_LIB.MXSetSubgraphPropertyOpNamesV2`` in subgraphs. An unknown one is
            ignored with a warning.
        clear : bool
            Drop existing graphs.
        static_alloc, static_shape : bool
            Keep memory between calls, also of training; assume that shapes never change.
        inline_limit : int
            Largest number of operators for which a graph runs operator by operator.
        forward_bulk_size, backward_bulk_size : int, optional
            Number of operators executed in one batch.
        **kwargs
            Options of the backend; ``mirror="sqrt"`` trains in less memory: the backward pass
            keeps only the stage boundaries and recomputes everything else.

        Raises
        ------
        MXNetError
            For an unknown option without a backend.
        """
        check_options(backend, kwargs)
        self._active = self._settles_first = active
        if clear or not active:
            self._clear_cached_op()
        options = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
            **kwargs,
        }
        self._flags = {"backend": backend, **options}
        super().hybridize(active, backend=backend, clear=clear, **options)

    def register_op_hook(self, callback, monitor_all=False):
        def show(node, inputs, outputs):
            operator = CallbackText(node.op.name)
            if monitor_all:
                names = monitored_inputs(node.op, node.parsed, len(inputs))
                for name, array in zip(names, inputs, strict=True):
                    callback(CallbackText(f"{node.name}_{name}"), operator, array)
            names = monitored_outputs(node.op, node.parsed)
            for name, array in zip(names, outputs, strict=False):
                callback(CallbackText(f"{node.name}_{name}"), operator, array)

        self._op_hook = show
        super().register_op_hook(callback, monitor_all)

    register_op_hook.__doc__ = Block.register_op_hook.__doc__

    def infer_shape(self, *args):
        """Set the unknown shapes of the parameters from inputs.

        Blocks that define `forward` and have parameters of unknown shape must override this;
        with `hybrid_forward` shapes are inferred from the operators.

        Parameters
        ----------
        *args : NDArray
            The inputs.

        Raises
        ------
        DeferredInitializationError
            If a block with `forward` has such parameters and does not override this.
        """
        if not self._computes_in_hybrid:
            if all(shape_is_known(parameter.shape) for parameter in self._params.values()):
                return
            raise DeferredInitializationError(
                f"{type(self).__name__} has parameters of unknown shape and does not define "
                "infer_shape; define it or specify the shapes."
            )
        infer_parameters(*self._traced_for(args))

    def infer_type(self, *args):
        """Set the element types of the parameters from inputs.

        Parameters
        ----------
        *args : NDArray
            The inputs.
        """
        traced, flat = self._traced_for(args)
        types, _, state_types = traced.symbol.infer_type(
            **{name: array.dtype for name, array in zip(traced.inputs, flat, strict=True)}
        )
        names = (*traced.symbol.list_arguments(), *traced.symbol.list_auxiliary_states())
        for name, dtype in zip(names, (*types, *state_types), strict=True):
            if name in traced.parameters:
                traced.parameters[name].dtype = dtype

    def _traced_for(self, args):
        """The Trace for these inputs, and the inputs as a flat list of arrays."""
        flat, form = flatten(args)
        return trace(self, form, len(flat)), flat

    def _settle_parameters(self, args):
        """Finish deferred initializations of the block's own parameters."""
        waiting = [p for p in self._params.values() if p._deferred_init is not None]
        if not all(shape_is_known(parameter.shape) for parameter in waiting):
            if not self._infer_from_inputs(args):
                return  # inferred from the operators
        for parameter in waiting:
            parameter._finish_deferred_init()

    def _infer_from_inputs(self, args):
        """Set unknown shapes by `infer_shape`, unless they are inferred from the operators."""
        if (
            inspect.unwrap(type(self).infer_shape) is HybridBlock.infer_shape
            and self._computes_in_hybrid
        ):
            return False
        self.infer_shape(*args)
        return True

    def _settle_tree(self, args):
        """Finish all deferred initializations of the tree before computing, as a graph does.

        The parameters' random values then do not depend on numbers drawn by operators.
        """
        self.apply(_mark_settled)
        if any(
            parameter._deferred_init is not None for parameter in self.collect_params().values()
        ):
            with autograd.pause(train_mode=False):
                self._evaluate_plainly(args)

    def optimize_for(
        self,
        x,
        *args,
        backend=None,
        clear=False,
        static_alloc=False,
        static_shape=False,
        inline_limit=2,
        forward_bulk_size=None,
        backward_bulk_size=None,
        **kwargs,
    ):
        """Hybridize and run once to build the graph.

        Parameters
        ----------
        x, *args : NDArray
            The inputs; arrays beyond the parameters of `forward`, which MXNet passes to its
            backends, are ignored.
        backend, clear, static_alloc, static_shape, inline_limit, **kwargs
            See `hybridize`.
        forward_bulk_size, backward_bulk_size : int, optional
            See `hybridize`.
        """
        self.hybridize(
            True,
            backend=backend,
            clear=clear,
            static_alloc=static_alloc,
            static_shape=static_shape,
            inline_limit=inline_limit,
            forward_bulk_size=forward_bulk_size,
            backward_bulk_size=backward_bulk_size,
            **kwargs,
        )
        inputs, kinds = (x, *args), inspect.signature(self.forward).parameters.values()
        if all(kind.kind is not inspect.Parameter.VAR_POSITIONAL for kind in kinds):
            inputs = inputs[: len(kinds)]
        with autograd.pause():
            self(*inputs)

    def export(self, path, epoch=0, remove_amp_cast=True):
        """Write the graph and the parameters, for `SymbolBlock.imports` and `Module.load`.

        Parameters
        ----------
        path : str or None
            Prefix of the files ``path-symbol.json`` and ``path-0000.params``; None writes
            nothing.
        epoch : int
            Number in the name of the parameter file.
        remove_amp_cast : bool
            Remove casts inserted by mixed precision.

        Returns
        -------
        (str, str) or (Symbol, dict of str to NDArray)
            The file names; without `path` their contents.

        Raises
        ------
        RuntimeError
            If the block has not been hybridized and called, or runs without a graph.
        """
        traced = self._only_trace()
        if traced is None and self._calls is not None and self._calls.why_eager:
            raise RuntimeError(
                f"cannot export: the block runs without a graph: {self._calls.why_eager}"
            )
        if traced is None:
            raise RuntimeError(
                "Please first call block.hybridize() and then run forward with this block at least "
                "once before calling export."
            )
        graph, parameters = self._graph_to_export(traced)
        states = set(graph.list_auxiliary_states())
        arrays = {
            f"{'aux' if name in states else 'arg'}:{name}": parameter._reduce()
            for name, parameter in parameters.items()
        }
        if path is None:
            return graph, arrays
        symbol_file, parameter_file = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
        graph.save(symbol_file, remove_amp_cast=remove_amp_cast)
        save_arrays(parameter_file, arrays)
        return symbol_file, parameter_file

    def _graph_to_export(self, traced):
        """A traced graph and its parameters, under the names used in files."""
        if self._follows_mxnet_2():
            return traced.by_structural_names(self._collect_params_with_prefix())
        return traced.symbol, traced.parameters

    def _needs_inputs(self):
        return True

    def _evaluate(self, args):
        if self._active:
            traced = None if self._calls is None else self._calls.of_arrays(args)
            if traced is not None:
                return traced.run(args, self._op_hook)
            flat, form = flatten(args)
            if any(isinstance(array, NDArray) for array in flat):  # not inside a parent's trace
                traced = self._graph_for(flat, form)
                if traced is not None:
                    return traced.run(flat, self._op_hook)
        return self._evaluate_plainly(args)

    def _evaluate_plainly(self, args):
        if self._settles_first:
            self._settle_tree(args)
        if not self._computes_in_hybrid:
            if not args or isinstance(args[0], NDArray) or flatten(args)[0]:
                self._settle_parameters(args)
            elif not self._has_own_hybrid_forward():  # else `forward` selects the arrays for it
                raise without_arrays(args)
        return self.forward(*args)

    @calls_hybrid_forward
    def forward(self, x, *args):
        """Compute with `hybrid_forward`; see `Block.forward`.

        Parameters
        ----------
        x : NDArray or list of NDArray
            First input.
        *args : NDArray or any
            Further inputs.
        """
        if isinstance(x, NDArray) and (not args or all(isinstance(a, NDArray) for a in args)):
            first = x
        else:
            first = self._first_array((x, *args))
        if isinstance(first, Symbol):
            params = {name: parameter.var() for name, parameter in self._reg_params.items()}
            if first._is_numpy:
                params = {name: variable.as_np_ndarray() for name, variable in params.items()}
            with self.name_scope():  # operators are named after the block
                return self.hybrid_forward(symbol, x, *args, **params)
        if first is None:
            raise without_arrays((x, *args))
        context = first.context.home
        current = current_context()
        if context is not current and context != current:
            with context:
                return self._compute(context, x, args)
        return self._compute(context, x, args)

    def _first_array(self, args):
        """The first array or symbol among the inputs, or None.

        Raises
        ------
        ValueError
            If the inputs mix arrays and symbols.
        """
        flat, _ = flatten(args)
        check_arrays(self, flat)
        return flat[0] if flat else None

    def _compute(self, context, x, args):
        params = {}
        for name, parameter in self._reg_params.items():
            if parameter._deferred_init is not None:
                return self._compute_first(context, x, args)
            params[name] = parameter.data(context)
        return self.hybrid_forward(nd, x, *args, **params)

    def _compute_first(self, context, x, args):
        """Compute while some parameters still lack their shapes."""
        self._settle_parameters((x, *args))
        params = {
            name: LazyParameter(parameter, context)
            if parameter._deferred_init is not None
            else parameter.data(context)
            for name, parameter in self._reg_params.items()
        }
        out = self.hybrid_forward(LazyNamespace(nd), x, *args, **params)
        for parameter in self._reg_params.values():
            if parameter._deferred_init is not None:
                raise ValueError(
                    "Deferred initialization failed because the shape of Parameter "
                    f"'{parameter.name}' cannot be inferred from the inputs."
                )
        return out

    def hybrid_forward(self, F, x, *args, **kwargs):
        """Compute the outputs from the inputs.

        Parameters
        ----------
        F : module
            The operators, `mx.nd` or `mx.sym`.
        x : NDArray or Symbol
            First input.
        *args : NDArray or Symbol
            Further inputs.
        **kwargs : NDArray or Symbol
            The block's own parameters.
        """
        raise NotImplementedError(
            f"{type(self).__name__} defines neither hybrid_forward nor forward"
        )


def _mark_settled(block):
    block._settles_first = False
