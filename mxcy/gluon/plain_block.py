"""Blocks: the building units of networks, with parameters and child blocks."""

import inspect
from collections import OrderedDict

from mxcy._base.errors import MXNetError
from mxcy._library.front import recorder
from mxcy._library.tracebacks import name_block
from mxcy.gluon.collected_parameters import CollectedParameters
from mxcy.gluon.parameter import Parameter
from mxcy.gluon.scope import BlockScope
from mxcy.gluon.summary import print_summary
from mxcy.gluon.utils import HookHandle, is_mixed
from mxcy.profiler.scopes import MEMORY, scope

__all__ = ["Block"]


class Block(CollectedParameters):
    """Base class of all layers and networks; subclasses define `forward`.

    Blocks and parameters assigned to attributes are registered, so that `collect_params`,
    `save_parameters` etc. include them. Create parameters with ``self.params.get`` (named with
    the block's prefix) or directly with `Parameter`.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the parameters' names; by default the class name and a counter.
    params : ParameterDict, optional
        Parameters to share, usually ``other_block.params``.
    """

    _is_container = False  # containers are left out of summaries

    def __init__(self, prefix=None, params=None):
        self._empty_prefix = prefix == ""
        self._is_named = not (prefix is None and params is None) or BlockScope.is_open()
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._name_counter = {}
        self._children = OrderedDict()
        self._reg_params = {}
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    def __repr__(self):
        children = "\n".join(
            f"  ({name}): {_indent(repr(child))}" for name, child in self._listed_children()
        )
        return f"{type(self).__name__}(\n{children}\n)"

    def _listed_children(self):
        """The children shown by `repr`: those that are attributes."""
        return [item for item in self.__dict__.items() if isinstance(item[1], Block)]

    def __setattr__(self, name, value):
        existing = self.__dict__.get(name)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(
                f"Changing attribute type for {name} from {type(existing)} to {type(value)} "
                "is not allowed."
            )
        if isinstance(value, (Block, Parameter)) and "_children" not in self.__dict__:
            kind = type(self).__name__
            raise AttributeError(
                f"{kind}.__init__ must call super().__init__() before it sets self.{name}: "
                f"'{kind}' object has no attribute '_children'"
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            self._register_parameter(value, name)
        super().__setattr__(name, value)

    # -- names ------------------------------------------------------------------------------------

    def _alias(self):
        """The class's part of default names."""
        return type(self).__name__.lower()

    @property
    def prefix(self):
        """str: prefix of the names of the block's parameters."""
        return self._prefix

    @property
    def name(self):
        """str: the prefix without its trailing underscore."""
        return self._name

    def name_scope(self):
        """Return a scope that prefixes the names of new blocks with this block's.

        Returns
        -------
        BlockScope
            To be used in a ``with`` statement.
        """
        return self._scope

    @property
    def _scope(self):
        return BlockScope.of(self)

    # -- children, types, hooks ------------------------------------------------------------------

    def register_child(self, block, name=None):
        """Register a block as a child.

        Parameters
        ----------
        block : Block
            The child.
        name : str, optional
            Component in structural names; by default the number of children so far.
        """
        if not callable(block):
            raise TypeError(
                f"{type(self).__name__}: expected a Block as its child, got {type(block).__name__}"
            )
        self._children[str(len(self._children)) if name is None else name] = block

    def cast(self, dtype):
        """Change the element type of the block and all its children.

        Parameters
        ----------
        dtype : str or numpy.dtype
            The new type.
        """
        for child in self._children.values():
            child.cast(dtype)
        for parameter in self._params.values():
            parameter.cast(dtype)

    def apply(self, fn):
        """Call a function on every descendant, children first, and on the block itself.

        Parameters
        ----------
        fn : callable
            Takes a block.

        Returns
        -------
        Block
            This one.
        """
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active=True, **kwargs):
        """Switch graph execution of all hybrid children on or off.

        Parameters
        ----------
        active : bool
            On or off.
        **kwargs
            See `HybridBlock.hybridize`.
        """
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    # -- the computation --------------------------------------------------------------------------

    def register_forward_pre_hook(self, hook):
        """Register a function to call before every `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(block, inputs)``; the return value is ignored.

        Returns
        -------
        HookHandle
        """
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook):
        """Register a function to call after every `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(block, inputs, outputs)``; the return value is ignored.

        Returns
        -------
        HookHandle
        """
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback, monitor_all=False):
        """Register a function to call with the outputs of every operator in hybridized blocks.

        The graphs then run operator by operator.

        Parameters
        ----------
        callback : callable
            ``callback(name, operator, array)``, called with e.g. ``"dense0_fwd_output"``,
            ``"FullyConnected"`` and the array.
        monitor_all : bool
            Also report the operators' inputs, e.g. ``"dense0_fwd_weight"``.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def __call__(self, *args):
        """Run `forward`, with the hooks before and after it.

        Under the MXNet 2 profile, a block that needs inputs but gets none returns itself: programs
        access children by ``self._children[name]()``.
        """
        if not args and self._follows_mxnet_2() and self._needs_inputs():
            return self
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        try:
            if recorder.bits() & MEMORY:  # attribute its memory to its name
                with scope(self._name):
                    out = self._evaluate(args)
            else:
                out = self._evaluate(args)
        except MXNetError as error:
            name_block(error, self._name, type(self).__name__, args)
            raise
        if isinstance(out, (tuple, list)) and is_mixed(out):
            raise TypeError(f"{self._name}: the outputs mix arrays of mx.np and of mx.nd")
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def _needs_inputs(self):
        """Whether `forward` cannot be called without arguments."""
        try:
            inspect.signature(self.forward).bind()
        except TypeError:
            return True
        return inspect.unwrap(type(self).forward) is Block.forward

    def _evaluate(self, args):
        """The computation of a call, between its hooks."""
        return self.forward(*args)

    def forward(self, *args):
        """Compute the outputs from the inputs.

        Parameters
        ----------
        *args : NDArray
            The inputs.

        Returns
        -------
        NDArray or nested lists of NDArray
        """
        raise NotImplementedError(f"{type(self).__name__} does not define forward")

    def summary(self, *inputs):
        """Print a table of layers with output shapes and parameter counts.

        Parameters
        ----------
        *inputs : NDArray
            A batch, on which the network runs once.
        """
        print_summary(self, inputs)


def _indent(text, by=2):
    first, *others = text.split("\n")
    return "\n".join([first, *(" " * by + line for line in others)])
