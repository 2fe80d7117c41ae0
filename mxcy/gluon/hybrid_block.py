"""Hybrid blocks: computations that are written once for arrays and for graphs."""

from mxcy import autograd
from mxcy import ndarray as nd
from mxcy.context import current_context
from mxcy.gluon.lazy_operators import LazyNamespace, LazyParameter
from mxcy.gluon.parameter import DeferredInitializationError
from mxcy.gluon.plain_block import Block
from mxcy.gluon.utils import shape_is_known
from mxcy.ndarray import NDArray

__all__ = ["HybridBlock"]


class HybridBlock(Block):
    """A block whose computation can also run as a graph; all its children are hybrid.

    Subclasses compute in ``hybrid_forward(F, x, *args, **params)``, with operators taken from `F`
    and own parameters passed by name (MXNet 1.x), or in ``forward(x, *args)`` (MXNet 2.x).

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    _computes_in_hybrid = True  # in `hybrid_forward`, not in a `forward` of its own

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._computes_in_hybrid = cls.forward is HybridBlock.forward

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix, params)
        self._active = self._settles_first = False
        self._flags = {}

    def register_child(self, block, name=None):
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block!r} has type "
                f"{type(block)}. If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)

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
        """Ask for execution as a graph; the results are the same, and so far also the way to them.

        Parameters
        ----------
        active : bool
            On or off.
        backend : str, optional
            Name of a backend that optimizes the graph.
        clear : bool
            Forget graphs made before.
        static_alloc, static_shape : bool
            Memory is planned once; shapes never change.
        inline_limit : int
            Largest number of operators for which a graph is executed operator by operator.
        forward_bulk_size, backward_bulk_size : int, optional
            Number of operators that are executed together.
        **kwargs
            Options of the backend.
        """
        self._active = self._settles_first = active
        self._flags = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
            **kwargs,
        }
        super().hybridize(
            active,
            backend=backend,
            clear=clear,
            static_alloc=static_alloc,
            static_shape=static_shape,
            inline_limit=inline_limit,
            forward_bulk_size=forward_bulk_size,
            backward_bulk_size=backward_bulk_size,
            **kwargs,
        )

    def infer_shape(self, *args):
        """Set the shapes of the block's own parameters from inputs.

        Blocks that compute in `forward` and have parameters of unknown shape define this; those
        with `hybrid_forward` need not.

        Parameters
        ----------
        *args : NDArray
            The inputs.
        """
        raise DeferredInitializationError(
            f"{type(self).__name__} has parameters of unknown shape and does not define "
            "infer_shape; define it or specify the shapes."
        )

    def _settle_parameters(self, args):
        """Initialize own parameters whose initialization waited for the inputs."""
        waiting = [p for p in self._params.values() if p._pending is not None]
        if not all(shape_is_known(parameter.shape) for parameter in waiting):
            if type(self).infer_shape is HybridBlock.infer_shape and self._computes_in_hybrid:
                return  # the operators will tell
            self.infer_shape(*args)
        for parameter in waiting:
            parameter._finish_deferred_init()

    def _settle_tree(self, args):
        """Initialize what waits in the whole tree before anything is computed, as a graph does.

        The values drawn for parameters then do not depend on what operators draw on the way.
        """
        self.apply(_mark_settled)
        if any(parameter._pending is not None for parameter in self.collect_params().values()):
            with autograd.pause(train_mode=False):
                self.forward(*args)

    def __call__(self, *args):
        if self._settles_first:
            self._settle_tree(args)
        if not self._computes_in_hybrid:
            self._settle_parameters(args)
        return super().__call__(*args)

    def forward(self, x, *args):
        """Compute by `hybrid_forward`; see `Block.forward`.

        Parameters
        ----------
        x : NDArray or list of NDArray
            First input.
        *args : NDArray or any
            Further inputs.
        """
        first = x if isinstance(x, NDArray) else _first_array((x, *args))
        if first is None:
            raise ValueError(
                "In HybridBlock, there must be one NDArray or one Symbol in the input. "
                "Please check the type of the args."
            )
        context = first.context
        current = current_context()
        if context is not current and context != current:
            with context:
                return self._compute(context, x, args)
        return self._compute(context, x, args)

    def _compute(self, context, x, args):
        params = {}
        for name, parameter in self._reg_params.items():
            if parameter._pending is not None:
                return self._compute_first(context, x, args)
            params[name] = parameter.data(context)
        return self.hybrid_forward(nd, x, *args, **params)

    def _compute_first(self, context, x, args):
        """Compute with parameters some of which wait for their shapes."""
        self._settle_parameters((x, *args))
        params = {
            name: LazyParameter(parameter, context)
            if parameter._pending is not None
            else parameter.data(context)
            for name, parameter in self._reg_params.items()
        }
        out = self.hybrid_forward(LazyNamespace(nd), x, *args, **params)
        for parameter in self._reg_params.values():
            if parameter._pending is not None:
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


def _first_array(values):
    for value in values:
        if isinstance(value, NDArray):
            return value
        if isinstance(value, (list, tuple)):
            found = _first_array(value)
            if found is not None:
                return found
    return None
