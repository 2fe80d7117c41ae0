"""Rules that fill the arrays of new parameters.

An initializer is called with a description of the parameter (`InitDesc`: its name and attributes)
and the array to fill. Random ones draw from `mxcy.random`, so a seed decides all weights.
"""

import json
import logging
import re
import warnings
from math import ceil, sqrt

import numpy as np

from mxcy import ndarray as nd
from mxcy import registry

__all__ = [
    "InitDesc",
    "Initializer",
    "Load",
    "Mixed",
    "Zero",
    "One",
    "Constant",
    "Uniform",
    "Normal",
    "Orthogonal",
    "Xavier",
    "MSRAPrelu",
    "Bilinear",
    "LSTMBias",
    "create",
    "register",
]


class InitDesc(str):
    """A parameter's name together with its attributes.

    Parameters
    ----------
    name : str
        Name of the parameter.
    attrs : dict of str to str, optional
        Its attributes; ``'__init__'`` there names the initializer to use, whatever the name says.
    global_init : Initializer, optional
        The initializer of the whole network.
    """

    def __new__(cls, name, attrs=None, global_init=None):
        desc = super().__new__(cls, name)
        desc.attrs = attrs or {}
        desc.global_init = global_init
        return desc


# Which method fills a parameter, by how its name ends (first match wins).
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
# Plain strings instead of an `InitDesc` follow older and wider rules.
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
    """Base of all initializers.

    Subclasses say in `_init_weight(name, arr)` how weights are filled; biases and shifts become 0
    and scales 1, by the ending of the parameter's name.

    Parameters
    ----------
    **kwargs
        What `dumps` has to write in order to make an equal initializer again.
    """

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Log how each parameter was initialized.

        Parameters
        ----------
        verbose : bool
            Whether to log at all.
        print_func : callable, optional
            Makes the text from the filled array; by default its norm divided by the square root of
            its size.

        Returns
        -------
        Initializer
            This one.
        """
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square_text
        return self

    def dumps(self):
        """Return the JSON text ``[name, arguments]`` from which `create` makes an equal one."""
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
            When `desc` is no string.
        ValueError
            When the name's ending says nothing about the parameter's role.
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
        warnings.warn(
            "Calling an initializer with a plain name is deprecated, "
            "use init(mx.init.InitDesc(...), NDArray) instead.",
            DeprecationWarning,
            stacklevel=3,
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
        Bilinear()._init_weight(_, arr)

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
        raise NotImplementedError(f"{type(self).__name__} does not say how to fill weights")

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
    """Register an initializer class, so that `create` finds it by its lower-case name.

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


class Load:
    """Takes the arrays of parameters from a file or a mapping.

    Parameters
    ----------
    param : str or dict of str to NDArray
        File name or arrays; the prefixes ``arg:`` and ``aux:`` of names are dropped.
    default_init : callable, optional
        Initializer of the parameters that are not there.
    verbose : bool
        Log where each parameter comes from.

    Raises
    ------
    AssertionError
        When called for a parameter of another shape, or for a missing one without `default_init`.
    """

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = nd.load(param)
        assert isinstance(param, dict), "param must be a file name or a dict of name -> NDArray"
        self.param = {re.sub("^(arg|aux):", "", name): arr for name, arr in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        if name in self.param:
            loaded = self.param[name]
            assert arr.shape == loaded.shape, (
                f"Parameter {name} cannot be initialized from loading. "
                f"Shape mismatch, target {arr.shape} vs loaded {loaded.shape}"
            )
            arr[:] = loaded
            source = "loading"
        else:
            assert self.default_init is not None, (
                f"Cannot Initialize {name}. Not found in loaded param "
                "and no default Initializer is provided."
            )
            self.default_init(name, arr)
            source = "default"
        if self.verbose:
            logging.info("Initialized %s by %s", name, source)


class Mixed:
    """Chooses among initializers by the parameter's name.

    Parameters
    ----------
    patterns : list of str
        Regular expressions, tried in order at the beginning of the name.
    initializers : list of Initializer
        The initializer of each pattern.

    Raises
    ------
    ValueError
        When called for a name that no pattern matches.
    """

    def __init__(self, patterns, initializers):
        assert len(patterns) == len(initializers), (
            f"got {len(patterns)} patterns for {len(initializers)} initializers"
        )
        self.map = list(zip([re.compile(p) for p in patterns], initializers, strict=True))

    def __call__(self, name, arr):
        self.choose(name)(name, arr)

    def choose(self, name):
        """Return the initializer of the first pattern that matches a name.

        Parameters
        ----------
        name : str
            Name of a parameter.

        Returns
        -------
        Initializer
        """
        for pattern, init in self.map:
            if pattern.match(name):
                return init
        raise ValueError(
            f"Parameter name {name} did not match any pattern. "
            'Consider adding a ".*" pattern at the end with a default Initializer.'
        )


@alias("zeros")
@register
class Zero(Initializer):
    """Fills weights with 0."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 0


@alias("ones")
@register
class One(Initializer):
    """Fills weights with 1."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """Fills weights with a given value.

    Parameters
    ----------
    value : float, array_like or NDArray
        One number, or an array of the parameter's shape.
    """

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self):
        value = self.value
        if not isinstance(value, (int, float, str)):
            value = (value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)).tolist()
        return json.dumps([type(self).__name__.lower(), {"value": value}])


@register
class Uniform(Initializer):
    """Draws weights evenly from ``[-scale, scale)``.

    Parameters
    ----------
    scale : float
        The bound.
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        nd.random.uniform(-self.scale, self.scale, arr.shape, out=arr)


@register
class Normal(Initializer):
    """Draws weights from a normal distribution around 0.

    Parameters
    ----------
    sigma : float
        Standard deviation.
    """

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        nd.random.normal(0, self.sigma, arr.shape, out=arr)


@register
class Orthogonal(Initializer):
    """Fills weights with a random matrix of orthogonal rows or columns (Saxe et al., 2013).

    Parameters
    ----------
    scale : float
        Multiplier of the orthonormal matrix.
    rand_type : {'uniform', 'normal'}
        Distribution of the matrix whose singular vectors are taken.
    """

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _, arr):
        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        if self.rand_type == "uniform":
            drawn = nd.random.uniform(-1.0, 1.0, shape=shape)
        elif self.rand_type == "normal":
            drawn = nd.random.normal(0.0, 1.0, shape=shape)
        else:
            raise ValueError(f"rand_type must be 'uniform' or 'normal', got {self.rand_type!r}")
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        basis = left if left.shape == shape else right
        arr[:] = self.scale * basis.reshape(arr.shape)


@register
class Xavier(Initializer):
    """Scales random weights by the number of a layer's connections (Glorot & Bengio, 2010).

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
        Distribution.
    factor_type : {'avg', 'in', 'out'}
        What to divide by: incoming or outgoing connections of a unit, or their average.
    magnitude : float
        The scale is ``sqrt(magnitude / connections)``.
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(
                f"Xavier initializer cannot be applied to vector {name}. It requires at least 2D."
            )
        kernel_size = np.prod(shape[2:]) if len(shape) > 2 else 1.0
        fan_out, fan_in = shape[0] * kernel_size, shape[1] * kernel_size
        factors = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        if self.factor_type not in factors:
            raise ValueError(f"Incorrect factor type {self.factor_type!r}")
        scale = np.sqrt(self.magnitude / factors[self.factor_type])
        if self.rnd_type == "uniform":
            nd.random.uniform(-scale, scale, arr.shape, out=arr)
        elif self.rnd_type == "gaussian":
            nd.random.normal(0, scale, arr.shape, out=arr)
        else:
            raise ValueError(f"Unknown random type {self.rnd_type!r}")


@register
class MSRAPrelu(Xavier):
    """Draws normal weights with the variance that suits PReLU layers (He et al., 2015).

    Parameters
    ----------
    factor_type : {'avg', 'in', 'out'}
        See `Xavier`.
    slope : float
        Slope of the activation for negative inputs.
    """

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """Fills the weight of an upsampling convolution with a bilinear kernel."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        height, width = arr.shape[2:]
        factor = ceil(width / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        rows = 1 - abs(np.arange(height) / factor - center)
        columns = 1 - abs(np.arange(width) / factor - center)
        arr[:] = np.broadcast_to(np.outer(rows, columns).astype("float32"), arr.shape)


@register
class LSTMBias(Initializer):
    """Fills the bias of an LSTM with 0, except the forget gate's part.

    Parameters
    ----------
    forget_bias : float
        Value of the forget gate's bias, the second quarter.
    """

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        units = arr.shape[0] // 4
        arr[:] = 0.0
        arr[units : 2 * units] = self.forget_bias
