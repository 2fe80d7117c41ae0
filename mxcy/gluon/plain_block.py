"""Blocks: the pieces that networks are made of, with their parameters and children."""

import inspect
import re
import warnings
from collections import OrderedDict

from mxcy import initializer, profile
from mxcy._library.front import recorder
from mxcy.gluon.parameter import Parameter
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.gluon.parameter_files import ParameterFiles
from mxcy.gluon.scope import BlockScope
from mxcy.gluon.summary import print_summary
from mxcy.gluon.utils import HookHandle, is_mixed
from mxcy.profiler.scopes import MEMORY, scope
from mxcy.util import is_np_array

__all__ = ["Block"]


class Block(ParameterFiles):
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

    # -- parameters and children ------------------------------------------------------------------

    @property
    def params(self):
        """ParameterDict: the block's own parameters, without those of children."""
        return self._params

    def _register_parameter(self, parameter, name):
        replaced = self._reg_params.get(name)
        self._reg_params[name] = parameter
        if parameter._full_name is None:  # made without a ParameterDict, perhaps put into one
            shared = dict.get(self._params, parameter.name) is parameter
            parameter._full_name = parameter.name if shared else self._prefix + name
        if replaced is not None and not any(p is replaced for p in self._reg_params.values()):
            self._params.pop(replaced._full_name, None)
        self._params.setdefault(parameter._full_name, parameter)

    def register_child(self, block, name=None):
        """Register a block as a child.

        Parameters
        ----------
        block : Block
            The child.
        name : str, optional
            Name in structural names; by default the number of children so far.
        """
        self._children[str(len(self._children)) if name is None else name] = block

    def collect_params(self, select=None):
        """Return the parameters of the block and all its children.

        Parameters
        ----------
        select : str, optional
            Regular expression that a name must begin with; full names such as ``dense0_weight``
            and structural names such as ``0.weight`` both count.

        Returns
        -------
        ParameterDict
            By full names, or by structural names under the profile of MXNet 2, and where NumPy
            arrays are on and no block of the tree was made in the manner of MXNet 1.x. It answers
            to both.
        """
        self._warn_about_hidden_blocks()
        structural = self._collect_params_with_prefix()
        full = self._by_full_names()
        if select is not None:
            matches = re.compile(select).match
            named = (*structural.items(), *full.items())
            kept = {id(parameter) for name, parameter in named if matches(name)}
            structural = {name: p for name, p in structural.items() if id(p) in kept}
            full = {name: p for name, p in full.items() if id(p) in kept}
        by_structure = profile.is_mxnet_2() or (is_np_array() and self._is_of_mxnet_2())
        return ParameterDict._collected(self._params.prefix, full, structural, by_structure)

    def _by_full_names(self):
        """All parameters in a ParameterDict by full names."""
        parameters = ParameterDict(self._params.prefix)
        self._collect_into(parameters)
        return parameters

    def _is_of_mxnet_2(self):
        """Whether this block and its children are made as in MXNet 2: without prefixes and scopes.

        Layers of ours compute in `hybrid_forward` as well, hence only users' classes are asked.
        """
        return not self._is_named and all(c._is_of_mxnet_2() for c in self._children.values())

    def _collect_into(self, found):
        found.update(self._params)
        for child in self._children.values():
            child._collect_into(found)

    def _collect_params_with_prefix(self, prefix=""):
        """All parameters by structural names."""
        prefix = prefix + "." if prefix else ""
        by_path = {
            prefix + self._structural_name(name): parameter
            for name, parameter in self._reg_params.items()
        }
        for name, child in self._children.items():
            by_path.update(child._collect_params_with_prefix(prefix + name))
        return by_path

    def _structural_name(self, name):
        """What an own parameter is called in structural names."""
        return name

    def _warn_about_hidden_blocks(self):
        """Blocks in plain lists and dictionaries are not registered; say so."""
        children = {id(child) for child in self._children.values()}
        for name, value in self.__dict__.items():
            if not name.startswith("_") and isinstance(value, (list, tuple, dict)):
                if any(id(block) not in children for block in _blocks_in(value)):
                    warnings.warn(
                        f'"{type(self).__name__}.{name}" is an unregistered container with Blocks. '
                        "Note that Blocks inside the list, tuple or dict will not be registered "
                        "automatically. Make sure to register them using register_child() or "
                        "switching to nn.Sequential/nn.HybridSequential instead.",
                        UserWarning,
                        stacklevel=3,
                    )
        for child in self._children.values():
            child._warn_about_hidden_blocks()

    def share_parameters(self, shared):
        """Replace parameters by those of another block, by structural names.

        Parameters
        ----------
        shared : dict, ParameterDict or None
            What `collect_params` of the other block returned; None changes nothing.

        Returns
        -------
        Block
            This one.
        """
        if isinstance(shared, ParameterDict) and shared._structural:
            shared = shared._structural
        if shared is not None:
            self._share_parameters(shared, "")
        return self

    def _share_parameters(self, shared, prefix):
        for name in list(self._reg_params):
            path = prefix + self._structural_name(name)
            if path in shared:
                setattr(self, name, shared[path])
        for name, child in self._children.items():
            child._share_parameters(shared, f"{prefix}{name}.")

    def initialize(
        self,
        init=initializer.Uniform(),  # noqa: B008 - never changed but for its verbosity
        ctx=None,
        verbose=False,
        force_reinit=False,
        *,
        device=None,
    ):
        """Initialize the parameters of the block and all its children.

        Parameters
        ----------
        init : Initializer
            For those without an own initializer.
        ctx : Context or list of Context, optional
            Where to make the arrays; the current context by default.
        verbose : bool
            Log what is initialized.
        force_reinit : bool
            Initialize again what is initialized already.
        device : Context or list of Context, optional
            Another name of `ctx`.
        """
        self.collect_params().initialize(init, ctx, verbose, force_reinit, device=device)

    def setattr(self, name, value):
        """Set one attribute of all parameters, as in ``setattr('grad_req', 'null')``.

        Parameters
        ----------
        name : str
            The attribute.
        value : any
            Its value.
        """
        self.collect_params().setattr(name, value)

    def zero_grad(self):
        """Fill all gradients with 0."""
        self.collect_params().zero_grad()

    def reset_ctx(self, ctx):
        """Move all parameters to other contexts.

        Parameters
        ----------
        ctx : Context or list of Context
            The new contexts.
        """
        self.collect_params().reset_ctx(ctx)

    def reset_device(self, device):
        """Move all parameters to other contexts, see `reset_ctx`."""
        self.reset_ctx(device)

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
        if not args and profile.is_mxnet_2() and self._needs_inputs():
            return self
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        if recorder.bits() & MEMORY:  # its memory is then listed under its name
            with scope(self._name):
                out = self._evaluate(args)
        else:
            out = self._evaluate(args)
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


def _blocks_in(value):
    if isinstance(value, Block):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _blocks_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _blocks_in(item)


def _indent(text, by=2):
    first, *others = text.split("\n")
    return "\n".join([first, *(" " * by + line for line in others)])
