"""Containers and layers, most of them aliases of `mxcy.gluon.nn`."""

from mxcy import ndarray as nd
from mxcy.gluon.block import Block
from mxcy.gluon.nn import (
    Concatenate,
    HybridConcatenate,
    Identity,
    PixelShuffle1D,
    PixelShuffle2D,
    PixelShuffle3D,
    SyncBatchNorm,
)

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "SparseEmbedding",
    "SyncBatchNorm",
]


class Concurrent(Concatenate):
    """Alias of `mxcy.gluon.nn.Concatenate`.

    Parameters
    ----------
    axis : int
        Axis of the concatenation.
    prefix, params
        See `Block`.
    """


class HybridConcurrent(HybridConcatenate):
    """Alias of `mxcy.gluon.nn.HybridConcatenate`.

    Parameters
    ----------
    axis : int
        Axis of the concatenation.
    prefix, params
        See `Block`.
    """


class SparseEmbedding(Block):
    """An embedding with row_sparse weight and gradient.

    The weight is held by the `Trainer`'s store; each call fetches the rows it needs.

    Parameters
    ----------
    input_dim, output_dim, dtype, weight_initializer, **kwargs
        See `mxcy.gluon.nn.Embedding`.
    """

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": True,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            stype="row_sparse",
            grad_stype="row_sparse",
        )

    def forward(self, x):
        """Look up the rows of the indices."""
        return nd.Embedding(x, self.weight.row_sparse_data(x), name="fwd", **self._kwargs)

    def __repr__(self):
        return (
            f"{type(self).__name__}({self._kwargs['input_dim']} -> {self._kwargs['output_dim']}, "
            f"{self._kwargs['dtype']})"
        )
