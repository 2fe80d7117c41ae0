"""Blocks: the pieces that networks are made of, with their parameters and children."""

import inspect
from collections import OrderedDict

from mxcy._base.errors import MXNetError
from mxcy._library.front import recorder
from mxcy._library.refusals import name_block
from mxcy.gluon.collected_parameters import CollectedParameters
from mxcy.gluon.parameter import Parameter
from mxcy.gluon.scope import BlockScope
from mxcy.gluon.summary import print_summary
from mxcy.gluon.utils import HookHandle, is_mixed
from mxcy.profiler.scopes import MEMORY, scope

__all__ = ["Block"]


class Block(CollectedParameters):
    """Base of all layers and networks; subclasses compute in `forward`.

    Blocks and parameters that become attributes are registered: they take part in
    `collect_params`, `save_parameters` and so on. Parameters come from ``self.params.get`` (named
    with the block's prefix) or are made directly by `Parameter`.

    Parameters
    ----------
    prefix : str, optional
        Put before the names of the block's parameters; by default the class name with a number.
    params : ParameterDict, optional
        Parameters to share, usually ``other_block.params``.
    """

    _is_container = False  # containers of layers do not show in summaries

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
        """The children that `repr` shows: those that are attributes."""
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
                f"{kind}.__init__ has to call super().__init__() before it sets self.{name}: "
                f"'{kind}' object has no attribute '_children'"
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            self._register_parameter(value, name)
        super().__setattr__(name, value)

    # -- names ------------------------------------------------------------------------------------

    def _alias(self):
        """What blocks of this kind are called in default names."""
        return type(self).__name__.lower()

    @property
    def prefix(self):
        """str: put before the names of the block's parameters."""
        return self._prefix

    @property
    def name(self):
        """str: the prefix without the underscore at its end."""
        return self._name

    def name_scope(self):
        """Return a scope in which new blocks are named after this one.

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
            Name in structural names; by default the number of children so far.
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
        """Call a function with every child, children first, and with the block itself.

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
        """Have a function called before every `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(block, inputs)``; what it returns is not used.

        Returns
        -------
        HookHandle
        """
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook):
        """Have a function called after every `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(block, inputs, outputs)``; what it returns is not used.

        Returns
        -------
        HookHandle
        """
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback, monitor_all=False):
        """Have a function called with what the operators of hybridized blocks compute.

        The graphs then run operator by operator.

        Parameters
        ----------
        callback : callable
            ``callback(name, operator, array)``: such as ``"dense0_fwd_output"``,
            ``"FullyConnected"`` and the array.
        monitor_all : bool
            Show the operators' inputs too, such as ``"dense0_fwd_weight"``.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def __call__(self, *args):
        """Compute: run the hooks around `forward`.

        Without arguments, a block that needs some returns itself under the profile of MXNet 2,
        whose programs get children by ``self._children[name]()``.
        """
        if not args and self._follows_mxnet_2() and self._needs_inputs():
            return self
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        try:
            if recorder.bits() & MEMORY:  # its memory is then listed under its name
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
        """What a call computes between its hooks."""
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
        """Print the layers with the shapes of their outputs and the numbers of their parameters.

        Parameters
        ----------
        *inputs : NDArray
            A batch; the network runs once with it.
        """
        print_summary(self, inputs)


def _indent(text, by=2):
    first, *others = text.split("\n")
    return "\n".join([first, *(" " * by + line for line in others)])
