"""Dense, dropout, embedding and other basic layers."""

import numpy as np

from mxcy import ndarray as nd
from mxcy import profile
from mxcy._base.listing import listing
from mxcy._base.suggestions import did_you_mean
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.nn.activations import Activation
from mxcy.gluon.nn.containers import (
    Concatenate,
    HybridConcatenate,
    HybridSequential,
    Identity,
    Sequential,
)
from mxcy.gluon.nn.norm_layers import (
    BatchNorm,
    BatchNormReLU,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    SyncBatchNorm,
)

__all__ = [
    "Sequential",
    "HybridSequential",
    "Dense",
    "Dropout",
    "Embedding",
    "BatchNorm",
    "BatchNormReLU",
    "InstanceNorm",
    "LayerNorm",
    "GroupNorm",
    "SyncBatchNorm",
    "Flatten",
    "Lambda",
    "HybridLambda",
    "Concatenate",
    "HybridConcatenate",
    "Identity",
]

__dir__ = listing(__name__)


class Dense(HybridBlock):
    """A fully connected layer, ``activation(dot(x, weight.T) + bias)``.

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str, optional
        Name of an activation function, see `Activation`.
    use_bias : bool
        Whether there is a bias.
    flatten : bool
        Flatten all axes of the input but the first; otherwise transform the last axis.
    dtype : str or numpy.dtype
        Element type of the parameters.
    weight_initializer, bias_initializer : str or Initializer
        Initializers.
    in_units : int
        Number of inputs; 0 infers it from the first batch.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        flatten=True,
        dtype="float32",
        weight_initializer=None,
        bias_initializer="zeros",
        in_units=0,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        self._units = units
        self._in_units = in_units
        self._flatten = flatten
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(units, in_units),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias",
                    shape=(units,),
                    init=bias_initializer,
                    dtype=dtype,
                    allow_deferred_init=True,
                )
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def infer_shape(self, x, *args):
        """Set the number of inputs from an input."""
        in_units = int(np.prod(x.shape[1:])) if self._flatten else x.shape[-1]
        self.weight.shape = (self._units, in_units)

    def hybrid_forward(self, F, x, weight, bias=None):
        out = F.FullyConnected(
            x,
            weight,
            bias,
            no_bias=bias is None,
            num_hidden=self._units,
            flatten=self._flatten,
            name="fwd",
        )
        return out if self.act is None else self.act(out)

    def __repr__(self):
        outputs, inputs = self.weight.shape
        activation = self.act if self.act else "linear"
        return f"{type(self).__name__}({inputs or None} -> {outputs}, {activation})"


class Dropout(HybridBlock):
    """Set random elements to 0 in training mode and scale up the others.

    Parameters
    ----------
    rate : float
        Fraction of elements set to 0.
    axes : tuple of int
        Axes along which the mask is broadcast.
    **kwargs
        See `Block`.
    """

    def __init__(self, rate, axes=(), **kwargs):
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F, x):
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes, name="fwd")
        return F.identity(x)

    def __repr__(self):
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """Look up integer indices in a matrix of embedding vectors.

    Parameters
    ----------
    input_dim : int
        Number of rows; indices out of range are clipped.
    output_dim : int
        Length of a vector.
    dtype : str or numpy.dtype
        Element type of the matrix.
    weight_initializer : str or Initializer, optional
        Initializer of the matrix.
    sparse_grad : bool
        Compute a row_sparse gradient.
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        input_dim,
        output_dim,
        dtype="float32",
        weight_initializer=None,
        sparse_grad=False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=(input_dim, output_dim),
                init=weight_initializer,
                dtype=dtype,
                allow_deferred_init=True,
                grad_stype="row_sparse" if sparse_grad else "default",
            )

    def hybrid_forward(self, F, x, weight):
        return F.Embedding(x, weight, name="fwd", **self._kwargs)

    def __repr__(self):
        sizes = f"{self._kwargs['input_dim']} -> {self._kwargs['output_dim']}"
        return f"{type(self).__name__}({sizes}, {self._kwargs['dtype']})"


class Flatten(HybridBlock):
    """Flatten all axes but the first: (n, a, b, ...) becomes (n, a * b * ...).

    Parameters
    ----------
    **kwargs
        See `Block`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def hybrid_forward(self, F, x):
        return F.Flatten(x)

    def __repr__(self):
        return type(self).__name__


def _function_name(function):
    if isinstance(function, str):
        return function
    if callable(function):
        return getattr(function, "__name__", None) or repr(function)
    raise ValueError(f"Unrecognized function in lambda: {function} of type {type(function)}")


def _by_name(name):
    """Return the function of a name, of `mx.np` or `mx.npx` first under the profile of MXNet 2."""
    homes = (nd,)
    if profile.is_mxnet_2():
        from mxcy import numpy, numpy_extension  # large, and not needed by other programs

        homes = (numpy, numpy_extension, nd)
    found = next((home for home in homes if hasattr(home, name)), None)
    places = "/".join(home.__name__.split(".")[-1] for home in homes)
    known = [other for home in homes for other in dir(home)]
    assert found, f"Function name {name} is not found in {places}{did_you_mean(name, known)}"
    return getattr(found, name)


class Lambda(Block):
    """A function, or one of `mx.nd` by name, as a block.

    Parameters
    ----------
    function : str or callable
        Name of an operator, under the profile of MXNet 2 also of a function of `mx.np` or `mx.npx`,
        which precede; or a function of arrays.
    prefix : str, optional
        See `Block`.
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        self._func_name = _function_name(function)
        self._func_impl = _by_name(function) if isinstance(function, str) else function

    def forward(self, *args):
        return self._func_impl(*args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_name})"


class HybridLambda(HybridBlock):
    """A function of operators and arrays, or an operator by name, as a hybrid block.

    Parameters
    ----------
    function : str or callable
        Name as in `Lambda`, or a function ``f(F, x, *args)``; under the profile of MXNet 2
        ``f(x, *args)``.
    prefix : str, optional
        See `Block`.
    """

    def __init__(self, function, prefix=None):
        super().__init__(prefix=prefix)
        self._func_name = _function_name(function)
        if isinstance(function, str):
            _by_name(function)  # raises if there is none
        self._func = function

    def hybrid_forward(self, F, x, *args):
        if self._follows_mxnet_2():
            function = _by_name(self._func) if isinstance(self._func, str) else self._func
            return function(x, *args)
        if isinstance(self._func, str):
            return getattr(F, self._func)(x, *args)
        return self._func(F, x, *args)

    def __repr__(self):
        return f"{type(self).__name__}({self._func_name})"
