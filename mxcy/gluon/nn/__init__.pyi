"""Neural network layers."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.hybrid_block import (
    HybridBlock as HybridBlock,
)
from mxcy.gluon.nn import (
    activations as activations, basic_layers as basic_layers, conv_layers as conv_layers,
)
from mxcy.gluon.nn.activations import (
    Activation as Activation, ELU as ELU, GELU as GELU, LeakyReLU as LeakyReLU, PReLU as PReLU,
    SELU as SELU, SiLU as SiLU, Swish as Swish,
)
from mxcy.gluon.nn.basic_layers import (
    Dense as Dense, Dropout as Dropout, Embedding as Embedding, Flatten as Flatten,
    HybridLambda as HybridLambda, Lambda as Lambda,
)
from mxcy.gluon.nn.containers import (
    Concatenate as Concatenate, HybridConcatenate as HybridConcatenate,
    HybridSequential as HybridSequential, Identity as Identity, Sequential as Sequential,
)
from mxcy.gluon.nn.conv_layers import (
    Conv1D as Conv1D, Conv1DTranspose as Conv1DTranspose, Conv2D as Conv2D,
    Conv2DTranspose as Conv2DTranspose, Conv3D as Conv3D, Conv3DTranspose as Conv3DTranspose,
)
from mxcy.gluon.nn.deformable_layers import (
    DeformableConvolution as DeformableConvolution,
    ModulatedDeformableConvolution as ModulatedDeformableConvolution,
)
from mxcy.gluon.nn.norm_layers import (
    BatchNorm as BatchNorm, BatchNormReLU as BatchNormReLU, GroupNorm as GroupNorm,
    InstanceNorm as InstanceNorm, LayerNorm as LayerNorm, SyncBatchNorm as SyncBatchNorm,
)
from mxcy.gluon.nn.pixel_shuffle import (
    PixelShuffle1D as PixelShuffle1D, PixelShuffle2D as PixelShuffle2D,
    PixelShuffle3D as PixelShuffle3D,
)
from mxcy.gluon.nn.pool_layers import (
    AvgPool1D as AvgPool1D, AvgPool2D as AvgPool2D, AvgPool3D as AvgPool3D,
    GlobalAvgPool1D as GlobalAvgPool1D, GlobalAvgPool2D as GlobalAvgPool2D,
    GlobalAvgPool3D as GlobalAvgPool3D, GlobalMaxPool1D as GlobalMaxPool1D,
    GlobalMaxPool2D as GlobalMaxPool2D, GlobalMaxPool3D as GlobalMaxPool3D, MaxPool1D as MaxPool1D,
    MaxPool2D as MaxPool2D, MaxPool3D as MaxPool3D, ReflectionPad2D as ReflectionPad2D,
)
from mxcy.gluon.plain_block import (
    Block as Block,
)
from mxcy.gluon.symbol_block import (
    SymbolBlock as SymbolBlock,
)
