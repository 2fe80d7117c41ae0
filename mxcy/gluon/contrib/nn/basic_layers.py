"""Containers and layers, most of which `mxcy.gluon.nn` has as well."""

from mxcy.base import MXNetError
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
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D",
    "PixelShuffle3D", "SparseEmbedding", "SyncBatchNorm",
]  # fmt: skip


class Concurrent(Concatenate):
    """Blocks side by side, whose outputs are joined: `mxcy.gluon.nn.Concatenate`.

    Parameters
    ----------
    axis : int
        Axis along which the outputs are joined.
    prefix, params
        See `Block`.
    """


class HybridConcurrent(HybridConcatenate):
    """Hybrid blocks side by side, whose outputs are joined: `mxcy.gluon.nn.HybridConcatenate`.

    Parameters
    ----------
    axis : int
        Axis along which the outputs are joined.
    prefix, params
        See `Block`.
    """


class SparseEmbedding(Block):
    """An embedding whose matrix is row-sparse: refused, since arrays are dense here.

    Parameters
    ----------
    input_dim, output_dim, dtype, weight_initializer, **kwargs
        See `mxcy.gluon.nn.Embedding`, which computes the same.

    Raises
    ------
    MXNetError
        Always.
    """

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None, **kwargs):
        raise MXNetError(
            f"SparseEmbedding({input_dim}, {output_dim}): parameters cannot be row-sparse; "
            "gluon.nn.Embedding computes the same with a dense matrix"
        )
