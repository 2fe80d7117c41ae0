"""Parameters by name: what `Block.params` and `Block.collect_params` return."""

import contextlib

import numpy as np

from mxcy import initializer, profile
from mxcy import ndarray as nd
from mxcy.gluon.agreement import brief, reconcile
from mxcy.gluon.parameter import Constant, Parameter
from mxcy.util import np_array, np_shape

__all__ = ["ParameterDict"]

_HINT = "Please make sure source and target networks have the same prefix."


class ParameterDict(dict):
    """A dictionary of parameters that accepts two kinds of names.

    `Block.collect_params` returns one keyed by full names such as ``'dense0_weight'``
    (MXNet 1.x) or structural names such as ``'0.weight'`` (MXNet 2.x); look-ups accept either.

    Parameters
    ----------
    prefix : str
        Prefix of the parameters that `get` creates.
    shared : ParameterDict, optional
        Searched by `get` before it creates a parameter.
    """

    def __init__(self, prefix="", shared=None):
        super().__init__()
        self._prefix = prefix
        self._shared = shared
        self._by_structure = False  # whether the keys are structural names
        self._other = {}  # the parameters by the kind of name that is not the key

    @classmethod
    def _collected(cls, prefix, full, structural, by_structure):
        """Build the result of `Block.collect_params`: one kind of name as keys, look-up by both."""
        collected = cls(prefix)
        dict.update(collected, structural if by_structure else full)
        collected._by_structure = by_structure
        collected._other = full if by_structure else structural
        return collected

    @property
    def _structural(self):
        """dict: the parameters by structural names."""
        return self if self._by_structure else self._other

    @property
    def _params(self):
        """dict: the parameters by name; MXNet 1.x programs access it."""
        return self

    def __repr__(self):
        if self._by_structure:
            return super().__repr__()
        lines = "\n".join(f"  {parameter!r}" for parameter in self.values())
        return f"{self._prefix + ' ' if self._prefix else ''}(\n{lines}\n)"

    def __missing__(self, key):
        return self._other[key]

    def __contains__(self, key):
        return dict.__contains__(self, key) or key in self._other

    @property
    def prefix(self):
        """str: prefix of new parameters."""
        return self._prefix

    def _each(self):
        """The parameters without duplicates."""
        return {id(parameter): parameter for parameter in self.values()}.values()

    # -- look-up and creation ---------------------------------------------------------------------

    def _find(self, full_name):
        """The own or shared parameter with that name, or None."""
        if dict.__contains__(self, full_name):
            return self[full_name]
        if self._shared is not None and dict.__contains__(self._shared, full_name):
            self[full_name] = self._shared[full_name]
            return self[full_name]
        return None

    def _add(self, full_name, parameter):
        parameter._full_name = full_name
        self[full_name] = parameter
        return parameter

    def get(self, name, *default, **kwargs):
        """Return a parameter, creating it if the name is new.

        With a default, or if the keys are structural names, it is a plain dictionary look-up.

        Parameters
        ----------
        name : str
            Name without the prefix.
        *default : any
            Returned if the name is missing.
        **kwargs
            Arguments of `Parameter`. They must agree with an existing parameter, whose unset
            attributes and unknown extents they fill in.

        Returns
        -------
        Parameter

        Raises
        ------
        AssertionError
            If an argument contradicts the existing parameter.
        """
        if default or (self._by_structure and not kwargs):
            return self[name] if name in self else default[0] if default else None
        full_name = self._prefix + name
        parameter = self._find(full_name)
        if parameter is None:
            own = name if profile.is_mxnet_2() else full_name
            return self._add(full_name, Parameter(own, **kwargs))
        for attribute, wanted in kwargs.items():
            reconcile(parameter, attribute, wanted)
        return parameter

    def get_constant(self, name, value=None):
        """Return a constant, creating it if the name is new.

        Parameters
        ----------
        name : str
            Name without the prefix.
        value : array_like, optional
            Its value; an existing constant must have the same.

        Returns
        -------
        Constant

        Raises
        ------
        KeyError
            If the name is missing and no value is given.
        AssertionError
            If the values differ, or the name belongs to another parameter.
        """
        full_name = self._prefix + name
        parameter = self._find(full_name)
        if parameter is None:
            if value is None:
                raise KeyError(
                    f"No constant named '{full_name}'. Please specify value if you want to create "
                    "a new constant."
                )
            parameter = self._add(full_name, Constant(full_name, value))
        elif value is not None:
            assert isinstance(parameter, Constant), (
                f"Parameter '{full_name}' already exists but it is not a constant."
            )
            values = value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)
            assert np.array_equal(parameter.value.asnumpy(), values), (
                f"Constant '{full_name}' already exists but its value doesn't match the new one."
            )
        return parameter

    def update(self, other):
        """Add the parameters of another dictionary.

        Parameters
        ----------
        other : ParameterDict
            The other dictionary; a name present in both must refer to the same parameter.
        """
        for name, parameter in other.items():
            assert dict.get(self, name, parameter) is parameter, (
                "Cannot update self with other because they have different Parameters with the "
                f"same name '{name}'"
            )
        for name, parameter in other.items():
            self[name] = parameter

    # -- all parameters at once -------------------------------------------------------------------

    def initialize(
        self,
        init=initializer.Uniform(),  # noqa: B008 - never changed but for its verbosity
        ctx=None,
        verbose=False,
        force_reinit=False,
        *,
        device=None,
    ):
        """Initialize all parameters.

        Parameters
        ----------
        init : Initializer
            Used for parameters without an initializer of their own.
        ctx : Context or list of Context, optional
            Contexts of the arrays; the current context by default.
        verbose : bool
            Log what is initialized.
        force_reinit : bool
            Reinitialize parameters that already have values.
        device : Context or list of Context, optional
            Alias of `ctx`.
        """
        if verbose:
            init.set_verbosity(verbose=verbose)
        with self._semantics():
            for parameter in self._each():
                parameter.initialize(None, ctx or device, init, force_reinit=force_reinit)

    @contextlib.contextmanager
    def _semantics(self):
        """Scope for creating arrays: MXNet 2 blocks get `mx.np` arrays in every mode."""
        with contextlib.ExitStack() as scopes:
            if self._by_structure:
                scopes.enter_context(np_shape())
                scopes.enter_context(np_array())
            yield

    def zero_grad(self):
        """Fill all gradients with 0."""
        for parameter in self._each():
            parameter.zero_grad()

    def reset_ctx(self, ctx):
        """Move all parameters to other contexts, see `Parameter.reset_ctx`."""
        for parameter in self._each():
            parameter.reset_ctx(ctx)

    def reset_device(self, device):
        """Move all parameters to other contexts, see `Parameter.reset_ctx`."""
        self.reset_ctx(device)

    def list_ctx(self):
        """Return all contexts that hold a parameter.

        Returns
        -------
        list of Context
        """
        contexts = {}
        for parameter in self._each():
            contexts.update(dict.fromkeys(parameter.list_ctx()))
        return list(contexts)

    def setattr(self, name, value):
        """Set one attribute of all parameters, as in ``setattr('grad_req', 'null')``.

        Parameters
        ----------
        name : str
            The attribute.
        value : any
            Its value.
        """
        for parameter in self._each():
            setattr(parameter, name, value)

    # -- files ------------------------------------------------------------------------------------

    def save(self, filename, strip_prefix=""):
        """Write all values to a file.

        Parameters
        ----------
        filename : str
            The file.
        strip_prefix : str
            Stripped from the names in the file; every name must start with it.

        Raises
        ------
        ValueError
            If a name does not start with `strip_prefix`.
        """
        arrays = {}
        for name, parameter in self.items():
            if not name.startswith(strip_prefix):
                raise ValueError(
                    f"Prefix '{strip_prefix}' is to be stripped before saving, but Parameter's "
                    f"name '{name}' does not start with it. This may be due to your Block sharing "
                    "parameters from other Blocks or a forgotten 'with name_scope()' around the "
                    "creation of child blocks."
                )
            arrays[name[len(strip_prefix) :]] = parameter._reduce()
        nd.save(filename, arrays)

    def load(
        self,
        filename,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        restore_prefix="",
        cast_dtype=False,
        dtype_source="current",
    ):
        """Read the values from a file.

        Parameters
        ----------
        filename : str
            The file.
        ctx : Context or list of Context, optional
            Contexts for uninitialized parameters; the CPU by default.
        allow_missing : bool
            Keep parameters that are missing from the file instead of raising.
        ignore_extra : bool
            Skip arrays in the file that are not parameters instead of raising.
        restore_prefix : str
            Prepended to the names in the file.
        cast_dtype : bool
            Cast on dtype mismatch instead of raising.
        dtype_source : {'current', 'saved'}
            Which dtype a cast keeps.

        Raises
        ------
        AssertionError
            If names, shapes or dtypes do not match.
        """
        self._take(
            nd.load(filename) or {},  # without arrays, a file is read as an empty list
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            filename,
            cast_dtype,
            dtype_source,
        )

    def load_dict(
        self,
        param_dict,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        restore_prefix="",
        filename=None,
        cast_dtype=False,
        dtype_source="current",
    ):
        """Load the values from a dictionary of arrays.

        Parameters
        ----------
        param_dict : dict of str to NDArray
            The arrays; prefixes ``arg:`` and ``aux:`` are dropped.
        filename : str, optional
            Source of the arrays, for messages.
        ctx, allow_missing, ignore_extra, restore_prefix, cast_dtype, dtype_source
            See `load`.
        """
        self._take(
            dict(param_dict.items()),
            ctx,
            allow_missing,
            ignore_extra,
            restore_prefix,
            filename,
            cast_dtype,
            dtype_source,
        )

    def _take(
        self,
        arrays,
        ctx,
        allow_missing,
        ignore_extra,
        restore_prefix,
        filename,
        cast_dtype,
        dtype_source,
    ):
        """Load the values from a dictionary, emptying it to free memory early; see `load_dict`."""
        source = "loaded from dict" if filename is None else f"loaded from file: {filename}"
        names = [_plain(name) for name, _ in arrays.items()]
        for name in self.keys() if restore_prefix else ():
            assert name.startswith(restore_prefix), (
                f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not "
                "start with it."
            )
        there = {id(self[restore_prefix + name]) for name in names if restore_prefix + name in self}
        for name, parameter in () if allow_missing else self.items():
            assert id(parameter) in there, (
                f"Parameter '{name[len(restore_prefix) :]}' is missing in what was {source}, which "
                f"contains parameters: {brief(names)}. {_HINT}"
            )
        for saved, name in zip(list(arrays), names, strict=True):
            # Frees the copied array, so that the next one can reuse its memory.
            array = arrays.pop(saved)
            if restore_prefix + name in self:
                self[restore_prefix + name]._load_init(array, ctx, cast_dtype, dtype_source)
            else:
                assert ignore_extra, (
                    f"Parameter '{name}' {source} is not present in "
                    f"ParameterDict, choices are: {brief(self.keys())}. Set ignore_extra to True "
                    f"to ignore. {_HINT}"
                )


def _plain(name):
    """Strip the ``arg:`` or ``aux:`` prefix of symbolic models from a name."""
    return name[4:] if name.startswith(("arg:", "aux:")) else name
