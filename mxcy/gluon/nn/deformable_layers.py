"""Deformable convolution layers."""

import math

from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn._windows import as_tuple, describe
from mxcy.gluon.nn.activations import Activation

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class _Deformable(HybridBlock):
    """A deformable convolution, and the convolution that predicts its offsets (and mask)."""

    _moves = 2  # channels of the offset convolution per kernel element
    _order = ("offset", "deformable_conv")  # order in which initial values are drawn

    def __init__(
        self,
        channels,
        kernel_size=(1, 1),
        strides=(1, 1),
        padding=(0, 0),
        dilation=(1, 1),
        groups=1,
        num_deformable_group=1,
        layout="NCHW",
        use_bias=True,
        in_channels=0,
        activation=None,
        weight_initializer=None,
        bias_initializer="zeros",
        offset_weight_initializer="zeros",
        offset_bias_initializer="zeros",
        offset_use_bias=True,
        op_name="DeformableConvolution",
        adj=None,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        assert layout == "NCHW", f"{type(self).__name__} only supports NCHW layout, got {layout!r}"
        self._channels, self._in_channels = channels, in_channels
        self._operator = op_name
        shared = {
            "kernel": as_tuple(kernel_size, 2),
            "stride": as_tuple(strides, 2),
            "dilate": as_tuple(dilation, 2),
            "pad": as_tuple(padding, 2),
            "num_group": groups,
            "layout": layout,
        }
        self._taps = math.prod(shared["kernel"]) * num_deformable_group
        self._kwargs_offset = {
            **shared,
            "num_filter": self._moves * self._taps,
            "no_bias": not offset_use_bias,
        }
        self._kwargs_deformable_conv = {
            **shared,
            "num_filter": channels,
            "num_deformable_group": num_deformable_group,
            "no_bias": not use_bias,
        }
        if adj is not None:
            self._kwargs_offset["adj"] = self._kwargs_deformable_conv["adj"] = adj
        with self.name_scope():
            parts = {
                "offset": (self._kwargs_offset, offset_weight_initializer, offset_bias_initializer),
                "deformable_conv": (
                    self._kwargs_deformable_conv,
                    weight_initializer,
                    bias_initializer,
                ),
            }
            for name in self._order:
                self._add_parameters(name, *parts[name])
            self.act = Activation(activation, prefix=activation + "_") if activation else None

    def _add_parameters(self, name, kwargs, weight_initializer, bias_initializer):
        weight = self.params.get(
            f"{name}_weight",
            shape=self._weight_shape(kwargs, self._in_channels),
            init=weight_initializer,
            allow_deferred_init=True,
        )
        bias = None
        if not kwargs["no_bias"]:
            bias = self.params.get(
                f"{name}_bias",
                shape=(kwargs["num_filter"],),
                init=bias_initializer,
                allow_deferred_init=True,
            )
        setattr(self, f"{name}_weight", weight)
        setattr(self, f"{name}_bias", bias)

    @staticmethod
    def _weight_shape(kwargs, in_channels):
        return (kwargs["num_filter"], in_channels // kwargs["num_group"], *kwargs["kernel"])

    def pre_infer_offset_weight(self):
        """The shape of `offset_weight`, with -1 for unknown extents."""
        return tuple(n or -1 for n in self._weight_shape(self._kwargs_offset, self._in_channels))

    def pre_infer_weight(self):
        """The shape of `deformable_conv_weight`, with -1 for unknown extents."""
        kwargs = self._kwargs_deformable_conv
        return tuple(n or -1 for n in self._weight_shape(kwargs, self._in_channels))

    def infer_shape(self, x):
        """Set the number of input channels from an input."""
        self.offset_weight.shape = self._weight_shape(self._kwargs_offset, x.shape[1])
        self.deformable_conv_weight.shape = self._weight_shape(
            self._kwargs_deformable_conv, x.shape[1]
        )

    def _split(self, F, offset):
        """The operator's inputs besides data, weight and bias."""
        return {"offset": offset}

    def hybrid_forward(
        self,
        F,
        x,
        offset_weight,
        deformable_conv_weight,
        offset_bias=None,
        deformable_conv_bias=None,
    ):
        biases = () if offset_bias is None else (offset_bias,)
        offset = F.Convolution(x, offset_weight, *biases, cudnn_off=True, **self._kwargs_offset)
        inputs = {"data": x, **self._split(F, offset), "weight": deformable_conv_weight}
        if deformable_conv_bias is not None:
            inputs["bias"] = deformable_conv_bias
        operator = getattr(F.contrib, self._operator)
        out = operator(**inputs, name="fwd", **self._kwargs_deformable_conv)
        return out if self.act is None else self.act(out)

    def __repr__(self):
        parts, weight = self._kwargs_deformable_conv, self.deformable_conv_weight
        return describe(self, parts, weight, self.deformable_conv_bias)


class DeformableConvolution(_Deformable):
    """Convolution of images with learned sampling offsets (Dai et al., 2017).

    A first convolution, with the same kernel, stride, padding and dilation, predicts the offset of
    each kernel element at each position; its parameters are `offset_weight` and `offset_bias`.
    Those of the main convolution are `deformable_conv_weight` and `deformable_conv_bias`.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size, strides, padding, dilation : int or (int, int)
        See `Conv2D`.
    groups : int
        Number of channel groups convolved independently.
    num_deformable_group : int
        Number of channel groups with their own offsets.
    layout : {'NCHW'}
        Order of the axes.
    use_bias, offset_use_bias : bool
        Whether there is a bias.
    in_channels : int
        Number of input channels; 0 infers it from the first batch.
    activation : str, optional
        Name of an activation function, see `Activation`.
    weight_initializer, bias_initializer : str or Initializer
        Initializers of the main convolution.
    offset_weight_initializer, offset_bias_initializer : str or Initializer
        Initializers of the offset convolution; zeros make it start as a plain convolution.
    op_name : str
        Name of the operator in ``mx.nd.contrib``.
    adj : tuple of int, optional
        Passed to operators that accept it.
    prefix, params
        See `Block`.
    """

    def _alias(self):
        return "deformable_conv"


class ModulatedDeformableConvolution(_Deformable):
    """Deformable convolution with modulation: sampled values are also weighted (Zhu et al., 2018).

    The offset convolution also predicts a weight per kernel element and position, ``2 * sigmoid``
    of its output. The parameters are those of `DeformableConvolution`.
    """

    _moves = 3
    _order = ("deformable_conv", "offset")

    def __init__(
        self,
        channels,
        kernel_size=(1, 1),
        strides=(1, 1),
        padding=(0, 0),
        dilation=(1, 1),
        groups=1,
        num_deformable_group=1,
        layout="NCHW",
        use_bias=True,
        in_channels=0,
        activation=None,
        weight_initializer=None,
        bias_initializer="zeros",
        offset_weight_initializer="zeros",
        offset_bias_initializer="zeros",
        offset_use_bias=True,
        op_name="ModulatedDeformableConvolution",
        adj=None,
        prefix=None,
        params=None,
    ):
        super().__init__(
            channels,
            kernel_size,
            strides,
            padding,
            dilation,
            groups,
            num_deformable_group,
            layout,
            use_bias,
            in_channels,
            activation,
            weight_initializer,
            bias_initializer,
            offset_weight_initializer,
            offset_bias_initializer,
            offset_use_bias,
            op_name,
            adj,
            prefix,
            params,
        )

    def _alias(self):
        return "modulated_deformable_conv"

    def _split(self, F, offset):
        return {
            "offset": F.slice_axis(offset, axis=1, begin=0, end=2 * self._taps),
            "mask": F.sigmoid(F.slice_axis(offset, axis=1, begin=2 * self._taps, end=None)) * 2,
        }
