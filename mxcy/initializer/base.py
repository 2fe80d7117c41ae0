"""Base class of initializers: name-based rules, registry and serialization."""

import json
import logging
from math import sqrt

import numpy as np

from mxcy import ndarray as nd
from mxcy import registry
from mxcy._base.warning import warn

__all__ = ["InitDesc", "Initializer", "alias", "create", "register"]


class InitDesc(str):
    """A parameter's name together with its attributes.

    Parameters
    ----------
    name : str
        Name of the parameter.
    attrs : dict of str to str, optional
        Its attributes; ``'__init__'`` specifies an initializer that overrides name-based rules.
    global_init : Initializer, optional
        The initializer of the whole network.
    """

    def __new__(cls, name, attrs=None, global_init=None):
        desc = super().__new__(cls, name)
        desc.attrs = attrs or {}
        desc.global_init = global_init
        return desc


# Suffix of a parameter's name -> method that fills it; the first match wins.
_BY_SUFFIX = (
    ("weight", "_init_weight"),
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
    ("weight_quantize", "_init_quantized_weight"),
    ("bias_quantize", "_init_quantized_bias"),
)
# The legacy rules for plain strings instead of an `InitDesc`.
_BY_SUFFIX_OF_PLAIN_NAME = (
    ("bias", "_init_bias"),
    ("gamma", "_init_gamma"),
    ("beta", "_init_beta"),
    ("weight", "_init_weight"),
    ("moving_mean", "_init_zero"),
    ("moving_var", "_init_one"),
    ("moving_inv_var", "_init_zero"),
    ("moving_avg", "_init_zero"),
    ("min", "_init_zero"),
    ("max", "_init_one"),
)


class Initializer:
    """Base class of initializers.

    Subclasses fill weights in `_init_weight(name, arr)`; by the suffix of the parameter's name,
    biases and shifts are set to 0 and scales to 1.

    Parameters
    ----------
    **kwargs
        Arguments that `dumps` writes to recreate the initializer.
    """

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Log the initialization of each parameter.

        Parameters
        ----------
        verbose : bool
            Whether to log.
        print_func : callable, optional
            Formats the filled array; by default its norm divided by the square root of its size.

        Returns
        -------
        Initializer
            This one.
        """
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square_text
        return self

    def dumps(self):
        """Return the JSON ``[name, arguments]``, from which `create` recreates the initializer."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc, arr):
        """Fill an array.

        Parameters
        ----------
        desc : InitDesc or str
            The parameter's description, or only its name.
        arr : NDArray
            The array to fill.

        Raises
        ------
        TypeError
            If `desc` is not a string.
        ValueError
            If no rule matches the suffix of the name.
        """
        if not isinstance(desc, InitDesc):
            self._init_plain_name(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._log(desc, own, arr)
            return
        lowered = desc.lower()
        for suffix, method in _BY_SUFFIX:
            if lowered.endswith(suffix):
                getattr(self, method)(desc, arr)
                self._log(desc, suffix, arr)
                return
        self._init_default(desc, arr)

    def _init_plain_name(self, name, arr):
        warn(
            "Calling an initializer with a plain name is deprecated, "
            "use init(mx.init.InitDesc(...), NDArray) instead.",
            DeprecationWarning,
        )
        if not isinstance(name, str):
            raise TypeError("name must be string")
        if name.startswith("upsampling"):
            self._init_bilinear(name, arr)
            return
        for suffix, method in _BY_SUFFIX_OF_PLAIN_NAME:
            if name.endswith(suffix):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _log(self, desc, role, arr):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, role, self._print_func(arr))

    def _init_bilinear(self, _, arr):
        create("bilinear")._init_weight(_, arr)

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    def _init_bias(self, _, arr):
        arr[:] = 0.0

    def _init_gamma(self, _, arr):
        arr[:] = 1.0

    def _init_beta(self, _, arr):
        arr[:] = 0.0

    def _init_quantized_weight(self, _, arr):
        arr[:] = np.random.randint(-127, 127, size=arr.shape).astype("int8")

    def _init_quantized_bias(self, _, arr):
        arr[:] = 0

    def _init_weight(self, name, arr):
        raise NotImplementedError(f"{type(self).__name__} does not define _init_weight")

    def _init_default(self, name, _):
        raise ValueError(
            f"Unknown initialization pattern for {name}. Only names that end in weight, bias, "
            "gamma (1.0) and beta (0.0) are initialized by default. Use "
            "mx.sym.Variable(init=mx.init.*) to set the initializer of another one"
        )

    def __eq__(self, other):
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = None


def _root_mean_square_text(arr):
    return str((nd.norm(arr) / sqrt(arr.size)).asscalar())


_register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


def register(klass):
    """Register an initializer class under its lower-case name, for `create`.

    Parameters
    ----------
    klass : type
        A subclass of `Initializer`.

    Returns
    -------
    type
        The same class.
    """
    return _register(klass)
