"""SoftmaxOutput, softmax cross-entropy and SoftmaxActivation."""

import numpy as np

from mxcy.ops.activation.softmax import log_softmax, softmax
from mxcy.ops.core.attrs import Bool, Enum, Float
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import SOFTMAX, SOFTMAX_OUTPUT
from mxcy.ops.core.record import native, no_rule, op, sample, values

__all__ = []


def _rows(a, shape):
    """Return SoftmaxOutput's data shape as (rows, classes, inner); softmax is over the middle."""
    if a.multi_output:
        return shape[0], shape[1], Spec(shape[2:]).size
    if a.preserve_shape:
        return Spec(shape[:-1]).size, shape[-1], 1
    return shape[0], Spec(shape[1:]).size, 1


def _softmax_kernel(view):
    """Return the kernel of a softmax over the middle axis of ``view(a, shape)``."""

    def params(a, ins, outs):
        outer, extent, inner = view(a, ins[0].shape)
        return {"outer": outer, "extent": extent, "inner": inner, "scale": 1.0}

    return native("softmax", SOFTMAX, params, inplace=True)


@op("SoftmaxOutput", aliases=("Softmax",), inputs="data label", amp="loss")
class SoftmaxOutput:
    """Apply softmax, with the gradient of the cross-entropy with `label`.

    The softmax is over axis 1 with `multi_output`, over the last axis with `preserve_shape`, else
    over all axes but the first. Labels are class indices, or probabilities if they have the data's
    shape. The gradient is ``grad_scale * (out - one_hot(label))``, divided by the number of labels
    (`normalization` 'batch') or of those other than `ignore_label` ('valid'), and with
    `multi_output` by the number of positions unless normalised by valid labels. With `use_ignore`
    rows labelled `ignore_label` have no gradient. `smooth_alpha` is the label smoothing: the
    probability moved from the label to the other classes. The head gradient is ignored, or
    multiplied in with `out_grad`.
    """

    grad_scale: Float = 1.0
    ignore_label: Float = -1.0
    multi_output: Bool = False
    use_ignore: Bool = False
    preserve_shape: Bool = False
    normalization: Enum("batch", "null", "valid") = "null"
    out_grad: Bool = False
    smooth_alpha: Float = 0.0

    domain = (-2.0, 2.0)
    samples = (
        sample((4, 5), values(0, 5, (4,)), grad=False),
        sample((2, 3, 4), values(0, 3, (2, 4)), multi_output=True, grad=False),
        sample((2, 3, 4), values(0, 4, (2, 3)), preserve_shape=True, grad=False),
        sample((2, 3, 4), values(0, 1, (2, 3, 4)), grad=False),
    )

    kernels = (_softmax_kernel(_rows),)

    def infer(a, data, label):
        if data.shape is not None:
            require(data.ndim >= 2, f"data: expected at least 2 dimensions, got {data.shape}")
            _fill_label(a, data.shape, label)
        label.fill("label", dtype=data.dtype)
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g, out, label):
        by_data = F._softmax_output_grad(
            out,
            label,
            grad_scale=a.grad_scale,
            ignore_label=a.ignore_label,
            multi_output=a.multi_output,
            use_ignore=a.use_ignore,
            preserve_shape=a.preserve_shape,
            normalization=a.normalization,
            smooth_alpha=a.smooth_alpha,
        )
        return (by_data * g if a.out_grad else by_data), F.zeros_like(label)

    def ref(a, xp, data, label):
        return softmax(xp, data.reshape(_rows(a, data.shape)), 1).reshape(data.shape)


def _fill_label(a, shape, label):
    """Infer the shape of a label: the first accepted shape that it fits."""
    indices = (shape[0], *shape[2:]) if a.multi_output else shape[:-1]
    accepted = [indices, shape]
    if a.multi_output:
        flat = (shape[0], -1 if -1 in shape[2:] else Spec(shape[2:]).size)
        accepted = [flat, indices, (shape[0], 1, *shape[2:]), shape]
    fitting = (s for s in accepted if label.shape is None or _fits(label.shape, s))
    label.fill("label", next(fitting, indices))


def _fits(shape, other):
    return len(shape) == len(other) and all(
        m == n or -1 in (m, n) for m, n in zip(shape, other, strict=True)
    )


def _divisor(a, rows, inner, labels):
    """Return the divisor of the gradient, except for the number of valid labels."""
    if a.normalization == "valid":
        return 1
    if a.normalization == "null":
        return max(inner, 1)
    return max(inner * rows if a.multi_output else labels, 1)


def _grad_params(a, shape, label):
    """Return the kernel's parameters for data and label of these shapes."""
    rows, classes, inner = _rows(a, shape)
    labels = Spec(label).size
    divisor = 1 if label == shape else _divisor(a, rows, inner, labels)
    return {
        "rows": rows,
        "classes": classes,
        "inner": inner,
        "labels": labels,
        "probabilities": label == shape,
        "use_ignore": a.use_ignore,
        "valid": a.normalization == "valid" and label != shape,
        "ignore_label": a.ignore_label,
        "smooth_alpha": 0 if a.multi_output else a.smooth_alpha,
        "scale": a.grad_scale / divisor,
    }


@op("_softmax_output_grad", inputs="result label")
class _SoftmaxOutputGrad:
    """Gradient of SoftmaxOutput, from its output."""

    grad_scale: Float = 1.0
    ignore_label: Float = -1.0
    multi_output: Bool = False
    use_ignore: Bool = False
    preserve_shape: Bool = False
    normalization: Enum("batch", "null", "valid") = "null"
    smooth_alpha: Float = 0.0

    grad = no_rule

    def samples():
        data, label = values(0, 1, (4, 5)), values(0, 5, (4,))
        inner = values(0, 1, (2, 3, 4))
        for normalization in ("batch", "null", "valid"):
            shared = {"normalization": normalization, "grad_scale": 2.0, "grad": False}
            yield sample(data, label, **shared)
            yield sample(data, label, use_ignore=True, ignore_label=2.0, smooth_alpha=0.1, **shared)
            yield sample(
                inner,
                values(0, 3, (2, 4)),
                multi_output=True,
                use_ignore=True,
                ignore_label=1.0,
                **shared,
            )
            yield sample(inner, values(-1, 5, (2, 3)), preserve_shape=True, **shared)
        yield sample(data, values(0, 1, (4, 5)), grad=False, smooth_alpha=0.1, use_ignore=True)

    kernels = (
        native(
            "softmax_output_grad",
            struct=SOFTMAX_OUTPUT,
            params=lambda a, ins, outs: _grad_params(a, ins[0].shape, ins[1].shape),
            when=lambda a, ins, outs: None if ins[0].dtype == ins[1].dtype else "dtypes differ",
        ),
    )

    def infer(a, result, label):
        return SoftmaxOutput._infer(a, result, label)

    def ref(a, xp, result, label):
        if result.shape == label.shape:
            return (result - label) * a.grad_scale
        rows, classes, inner = _rows(a, result.shape)
        # Flattened data of more dimensions has more labels than rows; the first ones are used.
        labels = label.reshape(-1)[: rows * inner].reshape(rows, 1, inner)
        hit = xp.arange(classes).reshape(1, -1, 1) == labels.astype("int32")
        target = hit.astype(result.dtype)
        if a.smooth_alpha and not a.multi_output:
            target = xp.where(hit, 1 - a.smooth_alpha, a.smooth_alpha / max(classes - 1, 1))
        grad = result.reshape(rows, classes, inner) - target
        if a.use_ignore:
            grad = xp.where(labels.astype("int32") == int(a.ignore_label), 0, grad)
        divisor = _divisor(a, rows, inner, label.size)
        if a.normalization == "valid":
            divisor = max(int((label.astype("int32") != int(a.ignore_label)).sum()), 1)
        return (grad * (a.grad_scale / divisor)).reshape(result.shape).astype(result.dtype)


@op("softmax_cross_entropy", inputs="data label", amp="fp32")
class SoftmaxCrossEntropy:
    """Compute the cross-entropy of softmax(data) and class labels, summed over rows.

    Shapes: data (batch, classes), label (batch,) with class indices in the data's dtype, out (1,).
    The label has no gradient.
    """

    domain = (-2.0, 2.0)
    samples = (
        sample(
            (3, 5), np.array([3.5, 0.5, 2.5], np.float32), dtypes=("float32",), grad=False, tol=4
        ),
        sample((3, 5), np.array([3.5, 0.5, 2.5]), dtypes=("float64",)),
    )

    def infer(a, data, label):
        if data.shape is not None:
            require(data.ndim == 2, f"data: expected 2 dimensions, got {data.shape}")
            label.fill("label", data.shape[:1])
        label.fill("label", dtype=data.dtype)
        return Spec((1,), data.dtype)

    def grad(a, F, g, data, label):
        by_data = F._softmax_output_grad(F.softmax(data), label)
        return F.broadcast_mul(by_data, F.Reshape(g, shape=(1, 1)))

    def ref(a, xp, data, label):
        column = xp.clip(label, 0, data.shape[1] - 1).astype("int64")[:, None]
        picked = xp.take_along_axis(log_softmax(xp, data, 1), column, 1)
        return -picked.sum(keepdims=True).reshape(1)


def _activation_view(a, shape):
    axis = 1 if a.mode == "channel" else len(shape) - 1
    return Spec(shape[:axis]).size, shape[axis], Spec(shape[axis + 1 :]).size


@op("SoftmaxActivation", amp="fp32")
class SoftmaxActivation:
    """Apply softmax over the last axis (`mode` 'instance') or axis 1 ('channel')."""

    mode: Enum("channel", "instance") = "instance"

    domain = (-2.0, 2.0)
    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = (sample((2, 3, 4)), sample((2, 3, 4), mode="channel"))

    kernels = (_softmax_kernel(_activation_view),)

    def infer(a, data):
        if data.shape is not None:
            require(data.ndim >= 2, f"data: expected at least 2 dimensions, got {data.shape}")
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g, out):
        return F._softmax_grad(g, out, axis=1 if a.mode == "channel" else -1)

    def ref(a, xp, data):
        return softmax(xp, data, 1 if a.mode == "channel" else -1)
