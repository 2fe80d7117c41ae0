"""Convolution layers."""

from mxcy._base.listing import listing
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn._windows import as_tuple, describe
from mxcy.gluon.nn.activations import Activation
from mxcy.gluon.nn.deformable_layers import DeformableConvolution, ModulatedDeformableConvolution
from mxcy.gluon.nn.pixel_shuffle import PixelShuffle1D, PixelShuffle2D, PixelShuffle3D
from mxcy.gluon.nn.pool_layers import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    ReflectionPad2D,
)

__all__ = [
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "Conv1DTranspose",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "ReflectionPad2D",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "DeformableConvolution",
    "ModulatedDeformableConvolution",
]

__dir__ = listing(__name__)


class _Conv(HybridBlock):
    """A Convolution or Deconvolution operator as a layer."""

    _ndim = None
    _layouts = ()
    _op_name = "Convolution"

    def __init__(
        self,
        channels,
        kernel_size,
        strides,
        padding,
        dilation,
        groups,
        layout,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        in_channels=0,
        output_padding=None,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        assert layout in self._layouts, (
            f"{type(self).__name__} only supports {' and '.join(self._layouts)} layout, "
            f"got {layout!r}"
        )
        kernel = as_tuple(kernel_size, self._ndim)
        assert len(kernel) == self._ndim, (
            f"kernel_size must be a number or a list of {self._ndim} ints"
        )
        self._channels = channels
        self._in_channels = in_channels
        self._kwargs = {
            "kernel": kernel,
            "stride": as_tuple(strides, self._ndim),
            "dilate": as_tuple(dilation, self._ndim),
            "pad": as_tuple(padding, self._ndim),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        if output_padding is not None:
            self._kwargs["adj"] = as_tuple(output_padding, self._ndim)
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=self._weight_shape(in_channels),
                init=weight_initializer,
                allow_deferred_init=True,
            )
            self.bias = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def _alias(self):
        return "conv"

    def _filters(self, in_channels):
        """Number of filters, and channels per filter."""
        groups = self._kwargs["num_group"]
        assert in_channels % groups == 0 and self._channels % groups == 0, (
            f"{in_channels} input and {self._channels} output channels cannot be divided into "
            f"{groups} groups"
        )
        return self._channels, in_channels // groups

    def _weight_shape(self, in_channels):
        filters, depth = self._filters(in_channels)
        if self._kwargs["layout"].startswith("NC"):
            return (filters, depth, *self._kwargs["kernel"])
        return (filters, *self._kwargs["kernel"], depth)

    def pre_infer(self):
        """The weight's shape, with -1 for unknown extents."""
        return tuple(extent or -1 for extent in self.weight.shape)

    def infer_shape(self, x):
        """Set the number of input channels from an input."""
        self.weight.shape = self._weight_shape(x.shape[self._kwargs["layout"].find("C")])

    def hybrid_forward(self, F, x, weight, bias=None):
        operator = getattr(F, self._op_name)
        out = operator(x, weight, bias, name="fwd", **self._kwargs)
        return out if self.act is None else self.act(out)

    def __repr__(self):
        return describe(self, self._kwargs, self.weight, self.bias)


def _convolution(name, ones, zeros, layout):
    """Create a layer's constructor with defaults for the number of spatial axes."""

    def __init__(  # noqa: N807  it becomes one
        self,
        channels,
        kernel_size,
        strides=ones,
        padding=zeros,
        dilation=ones,
        groups=1,
        layout=layout,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        in_channels=0,
        **kwargs,
    ):
        _Conv.__init__(
            self,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            **kwargs,
        )

    __init__.__qualname__ = f"{name}.__init__"  # for messages about missing arguments
    return __init__


class Conv1D(_Conv):
    """Convolution of 1-D signals.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int
        Size of the filters.
    strides : int
        Step between output positions, in input elements.
    padding : int
        Zero padding on both sides.
    dilation : int
        Spacing of the kernel elements.
    groups : int
        Number of channel groups convolved independently.
    layout : {'NCW', 'NWC'}
        Order of the axes.
    activation : str, optional
        Name of an activation function, see `Activation`.
    use_bias : bool
        Whether there is a bias.
    weight_initializer, bias_initializer : str or Initializer
        Initializers.
    in_channels : int
        Number of input channels; 0 infers it from the first batch.
    **kwargs
        See `Block`.
    """

    _ndim, _layouts = 1, ("NCW", "NWC")
    __init__ = _convolution("Conv1D", 1, 0, "NCW")


class Conv2D(_Conv):
    """Convolution of images.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size, strides, padding, dilation : int or tuple of int
        See `Conv1D`.
    layout : {'NCHW', 'NHWC'}
        Order of the axes.
    groups, activation, use_bias, weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv1D`.
    """

    _ndim, _layouts = 2, ("NCHW", "NHWC")
    __init__ = _convolution("Conv2D", (1, 1), (0, 0), "NCHW")


class Conv3D(_Conv):
    """Convolution of volumes.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size, strides, padding, dilation : int or tuple of int
        See `Conv1D`.
    layout : {'NCDHW', 'NDHWC'}
        Order of the axes.
    groups, activation, use_bias, weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv1D`.
    """

    _ndim, _layouts = 3, ("NCDHW", "NDHWC")
    __init__ = _convolution("Conv3D", (1, 1, 1), (0, 0, 0), "NCDHW")


class _ConvTranspose(_Conv):
    """Transposed convolution, whose weight's first axis is the input channels."""

    _op_name = "Deconvolution"

    def _filters(self, in_channels):
        filters, _ = super()._filters(in_channels)
        return in_channels, filters // self._kwargs["num_group"]

    def __repr__(self):
        return describe(self, self._kwargs, self.weight, self.bias, transposed=True)


def _transposed(ones, zeros, layout):
    """Create a constructor of a transposed convolution, with defaults for its spatial axes."""

    def __init__(  # noqa: N807  it becomes one
        self,
        channels,
        kernel_size,
        strides=ones,
        padding=zeros,
        output_padding=zeros,
        dilation=ones,
        groups=1,
        layout=layout,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        in_channels=0,
        **kwargs,
    ):
        _Conv.__init__(
            self,
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            layout,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            in_channels,
            output_padding,
            **kwargs,
        )

    return __init__


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution of 1-D signals (the gradient of a convolution).

    Parameters
    ----------
    output_padding : int
        Extra extent at the end of each output axis.
    channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias, \
weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv1D`.
    """

    _ndim, _layouts = 1, ("NCW", "NWC")
    __init__ = _transposed(1, 0, "NCW")


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution of images (the gradient of a convolution).

    Parameters
    ----------
    output_padding : int or tuple of int
        Extra extent at the end of each output axis.
    channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias, \
weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv2D`.
    """

    _ndim, _layouts = 2, ("NCHW", "NHWC")
    __init__ = _transposed((1, 1), (0, 0), "NCHW")


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution of volumes (the gradient of a convolution).

    Parameters
    ----------
    output_padding : int or tuple of int
        Extra extent at the end of each output axis.
    channels, kernel_size, strides, padding, dilation, groups, layout, activation, use_bias, \
weight_initializer, bias_initializer, in_channels, **kwargs
        See `Conv3D`.
    """

    _ndim, _layouts = 3, ("NCDHW", "NDHWC")
    __init__ = _transposed((1, 1, 1), (0, 0, 0), "NCDHW")
