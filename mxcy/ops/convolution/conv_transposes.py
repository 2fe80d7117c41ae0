"""Transposes of a convolution with respect to data and weight: its gradients."""

from mxcy.ops.convolution.conv import conv_attrs, conv_shapes, data_ref, weight_ref
from mxcy.ops.convolution.conv_kernels import conv_kernels
from mxcy.ops.convolution.windows import Filters, Window
from mxcy.ops.core.attrs import Shape
from mxcy.ops.core.infer import Spec, require, same_dtype, whole_shape
from mxcy.ops.core.record import op, sample

__all__ = []


@op("_conv_data", inputs="grad weight")
class _ConvData(Window, Filters):
    """Transpose of a convolution with respect to its data of spatial extents `spatial`."""

    spatial: Shape

    samples = (
        sample((2, 4, 3, 4), (4, 3, 3, 3), kernel=(3, 3), num_filter=4, spatial=(5, 6)),
        sample(
            (2, 6, 3, 8),
            (6, 2, 3, 2),
            kernel=(3, 2),
            num_filter=6,
            num_group=2,
            stride=(2, 1),
            pad=(1, 2),
            dilate=(2, 1),
            spatial=(7, 5),
        ),
        sample(
            (2, 4, 5), (4, 3, 3), kernel=(3,), num_filter=4, stride=(2,), pad=(1,), spatial=(9,)
        ),
        sample(
            (2, 4, 5, 5),
            (4, 1, 3, 3),
            kernel=(3, 3),
            num_filter=4,
            num_group=4,
            pad=(1, 1),
            spatial=(5, 5),
        ),
        sample(
            (1, 16, 32, 32),
            (16, 16, 3, 3),
            kernel=(3, 3),
            num_filter=16,
            pad=(1, 1),
            spatial=(32, 32),
            dtypes=("float32",),
            tol=4,
        ),
    )

    kernels = conv_kernels("_data", lambda ins, outs: (outs[0], ins[1], ins[0]))

    def infer(a, grad, weight):
        dtype = same_dtype((grad, weight), ("grad", "weight"))
        if grad.shape is None or weight.shape is None:
            return Spec(None, dtype)
        require(grad.ndim > 1 and weight.ndim > 1, f"grad {grad}, weight {weight}: too few axes")
        channels = weight.shape[1] * a.num_group if weight.shape[1] != -1 else -1
        data = Spec((grad.shape[0], channels, *whole_shape(a.spatial, "spatial")), dtype)
        grad.fill("grad", conv_shapes(a, data, weight)[0])
        return data

    def grad(a, F, g, grad, weight):
        shared = conv_attrs(a)
        return F.Convolution(g, weight, no_bias=True, **shared), F._conv_weight(g, grad, **shared)

    def ref(a, xp, grad, weight):
        return data_ref(a, xp, grad, weight, a.spatial)


@op("_conv_weight", inputs="data grad")
class _ConvWeight(Window, Filters):
    """Transpose of a convolution with respect to its weight."""

    samples = (
        sample((2, 3, 5, 6), (2, 4, 3, 4), kernel=(3, 3), num_filter=4),
        sample(
            (2, 4, 7, 5),
            (2, 6, 3, 8),
            kernel=(3, 2),
            num_filter=6,
            num_group=2,
            stride=(2, 1),
            pad=(1, 2),
            dilate=(2, 1),
        ),
        sample((2, 3, 9), (2, 4, 5), kernel=(3,), num_filter=4, stride=(2,), pad=(1,)),
        sample((2, 4, 5, 5), (2, 4, 5, 5), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
        sample(
            (2, 16, 9, 7),
            (2, 18, 9, 7),
            kernel=(3, 3),
            num_filter=18,
            pad=(1, 1),
            dtypes=("float32",),
            tol=4,
        ),
    )

    kernels = conv_kernels("_weight", lambda ins, outs: (ins[0], outs[0], ins[1]))

    def infer(a, data, grad):
        dtype = same_dtype((data, grad), ("data", "grad"))
        if data.shape is None:
            return Spec(None, dtype)
        weight = Spec(dtype=dtype)
        grad.fill("grad", conv_shapes(a, data, weight)[0])
        return weight

    def grad(a, F, g, data, grad):
        shared = conv_attrs(a)
        by_data = F._conv_data(grad, g, spatial=data.shape[2:], **shared)
        return by_data, F.Convolution(data, g, no_bias=True, **shared)

    def ref(a, xp, data, grad):
        return weight_ref(a, xp, data, grad)
