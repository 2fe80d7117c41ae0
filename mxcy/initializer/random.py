"""Random initializers, which draw from `mxcy.random`."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.initializer.base import Initializer, register
from mxcy.util import is_np_array

__all__ = ["MSRAPrelu", "Normal", "Orthogonal", "Uniform", "Xavier"]


def _draw_normal(sigma, array):
    """Fill an array with normal numbers: those of `mx.np.random` if NumPy arrays are on."""
    if is_np_array():
        from mxcy import numpy  # not loaded before a program needs it

        numpy.random.normal(0.0, sigma, array.shape, dtype=array.dtype, out=array)
    else:
        nd.random.normal(0, sigma, array.shape, out=array)


def _draw_uniform(bound, array):
    """Fill an array with numbers from [-bound, bound), from the streams of `_draw_normal`.

    Those of `mx.np.random` are truncated if the array is of integers.
    """
    if is_np_array():
        from mxcy import numpy

        numpy.random.uniform(-bound, bound, array.shape, dtype=array.dtype, out=array)
    else:
        nd.random.uniform(-bound, bound, array.shape, out=array)


@register
class Uniform(Initializer):
    """Draw weights uniformly from ``[-scale, scale)``.

    Parameters
    ----------
    scale : float
        The bound.
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        _draw_uniform(self.scale, arr)


@register
class Normal(Initializer):
    """Draw weights from a normal distribution around 0.

    Parameters
    ----------
    sigma : float
        Standard deviation.
    """

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        _draw_normal(self.sigma, arr)


@register
class Orthogonal(Initializer):
    """Fill weights with a random matrix with orthogonal rows or columns (Saxe et al., 2013).

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
            drawn = nd.empty(shape)
            _draw_normal(1.0, drawn)
        else:
            raise ValueError(f"rand_type must be 'uniform' or 'normal', got {self.rand_type!r}")
        left, _, right = np.linalg.svd(drawn.asnumpy(), full_matrices=False)
        basis = left if left.shape == shape else right
        arr[:] = self.scale * basis.reshape(arr.shape)


@register
class Xavier(Initializer):
    """Scale random weights by a layer's fan-in and fan-out (Glorot & Bengio, 2010).

    Parameters
    ----------
    rnd_type : {'uniform', 'gaussian'}
        Distribution.
    factor_type : {'avg', 'in', 'out'}
        Divisor: fan-in, fan-out, or their average.
    magnitude : float
        The scale is ``sqrt(magnitude / divisor)``.
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
            _draw_uniform(scale, arr)
        elif self.rnd_type == "gaussian":
            _draw_normal(scale, arr)
        else:
            raise ValueError(f"Unknown random type {self.rnd_type!r}")


@register
class MSRAPrelu(Xavier):
    """Draw normal weights with the variance for PReLU layers (He et al., 2015).

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
