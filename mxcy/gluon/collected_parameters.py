"""Collective access to the parameters of a block and its children."""

import re

from mxcy import initializer, profile
from mxcy._base.warning import warn
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.gluon.parameter_files import ParameterFiles
from mxcy.util import is_np_array

__all__ = ["CollectedParameters"]


class CollectedParameters(ParameterFiles):
    """Mixin of `Block` for its own parameters and those of its children.

    Full names, such as ``dense0_weight``, begin with the block's prefix; structural names, such as
    ``0.weight``, are paths of attributes and children.
    """

    @property
    def params(self):
        """ParameterDict: the block's own parameters, without those of children."""
        return self._params

    def _register_parameter(self, parameter, name):
        replaced = self._reg_params.get(name)
        self._reg_params[name] = parameter
        if parameter._full_name is None:  # not created by a ParameterDict
            shared = dict.get(self._params, parameter.name) is parameter
            parameter._full_name = parameter.name if shared else self._prefix + name
        if replaced is not None and not any(p is replaced for p in self._reg_params.values()):
            self._params.pop(replaced._full_name, None)
        self._params.setdefault(parameter._full_name, parameter)

    def collect_params(self, select=None):
        """Return the parameters of the block and all its children.

        Parameters
        ----------
        select : str, optional
            Regular expression matched at the start of full names (``dense0_weight``) and of
            structural names (``0.weight``).

        Returns
        -------
        ParameterDict
            Keyed by full names; by structural names under the MXNet 2 profile, and with NumPy
            arrays switched on if no block of the tree is written in the MXNet 1.x style. Look-ups
            accept both kinds of names.
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
        by_structure = self._follows_mxnet_2() or (is_np_array() and self._is_of_mxnet_2())
        return ParameterDict._collected(self._params.prefix, full, structural, by_structure)

    @staticmethod
    def _follows_mxnet_2():
        """Whether the block follows MXNet 2 where the two generations are incompatible."""
        return profile.is_mxnet_2()

    def _by_full_names(self):
        """All parameters in a ParameterDict by full names."""
        parameters = ParameterDict(self._params.prefix)
        self._collect_into(parameters)
        return parameters

    def _is_of_mxnet_2(self):
        """Whether this block and its children are in the MXNet 2 style: no prefixes or name scopes.

        Only users' classes count: our own layers define `hybrid_forward` too.
        """
        return not self._is_named and all(c._is_of_mxnet_2() for c in self._children.values())

    def _collect_into(self, parameters):
        parameters.update(self._params)
        for child in self._children.values():
            child._collect_into(parameters)

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
        """The last component of an own parameter's structural name."""
        return name

    def _warn_about_hidden_blocks(self):
        """Warn about blocks in plain lists and dictionaries, which are not registered."""
        children = {id(child) for child in self._children.values()}
        for name, value in self.__dict__.items():
            if not name.startswith("_") and isinstance(value, (list, tuple, dict)):
                if any(id(block) not in children for block in _blocks_in(value)):
                    warn(
                        f'"{type(self).__name__}.{name}" is an unregistered container with Blocks. '
                        "Note that Blocks inside the list, tuple or dict will not be registered "
                        "automatically. Make sure to register them using register_child() or "
                        "switching to nn.Sequential/nn.HybridSequential instead."
                    )
        for child in self._children.values():
            child._warn_about_hidden_blocks()

    def share_parameters(self, shared):
        """Replace parameters by those of another block with the same structural names.

        Parameters
        ----------
        shared : dict, ParameterDict or None
            Result of the other block's `collect_params`; None changes nothing.

        Returns
        -------
        Block
            This one.

        Raises
        ------
        ValueError
            If `shared` is not a dictionary.
        """
        if not isinstance(shared, dict | ParameterDict | None):
            raise ValueError(
                "share_parameters expects a dictionary by structural names, such as "
                f"collect_params() returns, got {type(shared).__name__}"
            )
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
            Used for parameters without an initializer of their own.
        ctx : Context or list of Context, optional
            Where to make the arrays; the current context by default.
        verbose : bool
            Log what is initialized.
        force_reinit : bool
            Reinitialize parameters that already have values.
        device : Context or list of Context, optional
            Alias of `ctx`.
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


def _blocks_in(value):
    if isinstance(value, CollectedParameters):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _blocks_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _blocks_in(item)
