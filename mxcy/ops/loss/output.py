"""Outputs with a built-in loss, whose gradients ignore the head gradient."""

import math

from mxcy.ops.activation.definitions import sigmoid
from mxcy.ops.core.attrs import Bool, Enum, Field, Float
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import SVM_OUTPUT
from mxcy.ops.core.record import native, no_rule, op, register, sample, values
from mxcy.ops.core.stypes import densely
from mxcy.ops.shape.reshape import MOVE

__all__ = []


def _infer_regression(a, data, label):
    dtype = same_dtype((data, label), ("data", "label"))
    if data.shape is not None and not _goes_with(label.shape, data.shape):
        # A single value per sample has no axis of its own, unless known otherwise.
        flat = label.shape is None and len(data.shape) == 2 and data.shape[1] == 1
        label.fill("label", data.shape[:1] if flat else data.shape)
    return Spec(data.shape, dtype)


def _back_regression(a, ins, outs):
    ins[0].fill("data", outs[0].shape, outs[0].dtype)


def _goes_with(label, data):
    """Return whether a label of another shape has as many values per sample as the data."""
    if label is None or -1 in label or -1 in data:
        return False
    return label[:1] == data[:1] and Spec(label).size == Spec(data).size


def _regression_grad(result, difference):
    def grad(a, F, g, data, label, specs):
        # The output's own gradient would be the loss's again, so compute from the data.
        out, data = result(F, data), specs[0].shape
        target = label if specs[1].shape == data else F.Reshape(label, shape=data)
        values_per_sample = specs[0].size // max(data[0], 1)
        by_data = difference(F, out, target) * (a.grad_scale / max(values_per_sample, 1))
        return by_data, F.zeros_like(label)

    return grad


_REGRESSION_DOC = """\
The gradient is scaled by grad_scale divided by the number of values per sample; the head gradient
is ignored, and the label has no gradient. The label has the data's shape, or another one with as
many values per sample."""


def regression(name, ref, difference, doc, kernels=MOVE, identity=True):
    """Register a regression output.

    Parameters
    ----------
    name : str
    ref : callable
        ``ref(xp, data)``: the output.
    difference : callable
        ``difference(F, out, label)``: the loss' derivative for one value.
    doc : str
    kernels : tuple of Native
    identity : bool
        Whether the output is the data itself.
    """
    register(
        name,
        aliases=(f"_sparse_{name}",),
        inputs="data label",
        fields=(Field("grad_scale", Float, 1.0),),
        infer=_infer_regression,
        infer_back=_back_regression,
        grad=_regression_grad(
            (lambda F, data: data) if identity else (lambda F, data: F.sigmoid(data)), difference
        ),
        ref=lambda a, xp, data, label: ref(xp, data),
        kernels=kernels,
        identity=identity,
        ignores=("label",),
        amp="loss",
        stypes=densely("default csr") if name != "MAERegressionOutput" else (),
        samples=(
            sample((3, 4), (3, 4), grad=False),
            sample((3, 1), (3,), grad=False),
            sample((3, 2, 2), (3, 4), grad=False, grad_scale=2.0),
        ),
        doc=f"{doc}\n\n{_REGRESSION_DOC}",
    )


regression(
    "LinearRegressionOutput",
    lambda xp, data: data,
    lambda F, out, label: out - label,
    "Return the data unchanged, with the gradient of the squared error, ``out - label``.",
)
regression(
    "LogisticRegressionOutput",
    sigmoid,
    lambda F, out, label: out - label,
    "Apply the sigmoid, with the gradient of the logistic loss, ``out - label``.",
    kernels=(native("sigmoid", inplace=True),),
    identity=False,
)
regression(
    "MAERegressionOutput",
    lambda xp, data: data,
    lambda F, out, label: (out > label) * 2 - 1,
    "Return the data unchanged, with the gradient of the absolute error: 1 where the data exceeds "
    "the label, otherwise -1.",
)


@op("SVMOutput", inputs="data label", identity=True, ignores=("label",), amp="fp32")
class SVMOutput:
    """Return the data unchanged, with the gradient of a one-vs-all SVM (hinge) loss.

    The label of each row is a class index; that class should score at least `margin` and the others
    at most ``-margin``. Violations are linear with `use_linear`, otherwise squared. Shapes: data
    (..., classes), label (...). The head gradient is ignored, the label has no gradient.
    """

    margin: Float = 1.0
    regularization_coefficient: Float = 1.0
    use_linear: Bool = False

    samples = (
        sample((3, 4), values(0, 4, (3,)), grad=False),
        sample((3, 2, 4), values(0, 4, (3, 2)), grad=False, use_linear=True),
    )

    kernels = MOVE

    def infer(a, data, label):
        dtype = same_dtype((data, label), ("data", "label"))
        if data.shape is not None:
            require(data.ndim >= 2, f"data: expected at least 2 dimensions, got {data.shape}")
            label.fill("label", data.shape[:-1])
        return Spec(data.shape, dtype)

    def grad(a, F, g, data, label):
        gradient = F._svm_output_grad(
            data,
            label,
            margin=a.margin,
            use_linear=a.use_linear,
            regularization_coefficient=a.regularization_coefficient,
        )
        return gradient, F.zeros_like(label)

    def ref(a, xp, data, label):
        return data


def _svm_struct(a, ins, outs):
    shape = ins[0].shape
    return {
        "rows": math.prod(shape[:-1]),
        "classes": shape[-1],
        "margin": a.margin,
        "weight": a.regularization_coefficient,
        "linear": a.use_linear,
    }


@op("_svm_output_grad", inputs="data label")
class _SVMOutputGrad:
    """Gradient of SVMOutput's loss with respect to the data."""

    margin: Float = 1.0
    regularization_coefficient: Float = 1.0
    use_linear: Bool = False

    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = (
        sample((3, 4), values(0, 4, (3,)), grad=False),
        sample((2, 3, 37), values(-1, 39, (2, 3)), grad=False, margin=0.5),
        sample(
            (3, 37),
            values(0, 37, (3,)),
            grad=False,
            use_linear=True,
            regularization_coefficient=0.3,
        ),
    )
    kernels = (native("svm_output_grad", SVM_OUTPUT, _svm_struct),)

    grad = no_rule

    def infer(a, data, label):
        return SVMOutput.infer(a, [data, label])

    def ref(a, xp, data, label):
        chosen = label.astype("int64")[..., None] == xp.arange(data.shape[-1])
        sign = xp.where(chosen, -1, 1)  # the labelled class is pushed up, the others down
        violation = xp.maximum(a.margin + sign * data, 0)
        slope = violation > 0 if a.use_linear else violation * 2
        return (sign * slope * a.regularization_coefficient).astype(data.dtype)


@op("MakeLoss", identity=True, amp="fp32", in_symbols=InSymbols(named_input=True))
class MakeLoss:
    """Turn an array into a loss: the data unchanged, with gradient `grad_scale`.

    The gradient is divided by the batch size (`normalization` 'batch') or by the number of elements
    greater than `valid_thresh`, at least 1 ('valid'). The head gradient is ignored.
    """

    grad_scale: Float = 1.0
    valid_thresh: Float = 0.0
    normalization: Enum("batch", "null", "valid") = "null"

    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = (sample((3, 4), grad=False), sample((3, 4), grad=False, normalization="valid"))
    kernels = MOVE

    def infer(a, data):
        return Spec(data.shape, data.dtype)

    def grad(a, F, g, data, specs):
        scale = a.grad_scale
        if a.normalization == "batch":
            scale /= max(specs[0].shape[0], 1)
        by_data = F.ones_like(data) * scale
        if a.normalization != "valid":
            return by_data
        return F.broadcast_div(by_data, F.relu(F.sum(data > a.valid_thresh) - 1) + 1)

    def ref(a, xp, data):
        return data


@op(
    "IdentityAttachKLSparseReg",
    inputs="data moving_avg",
    outputs="output",
    mutates=("moving_avg",),
    in_symbols=InSymbols({"moving_avg": '["zero", {}]'}),
    amp="fp32",
)
class IdentityAttachKLSparseReg:
    """Return the data unchanged, adding a KL sparsity penalty to the gradient.

    The penalty is the Kullback-Leibler divergence between `sparseness_target` and the mean
    activation of each unit (all axes but the first), a running average updated with `momentum` in
    the backward pass. Shapes: data (batch, ...), moving_avg (units,).
    """

    sparseness_target: Float = 0.100000001
    penalty: Float = 0.00100000005
    momentum: Float = 0.899999976

    samples = (sample((3, 4), values(0.1, 0.9, (4,)), grad=False),)
    domain = (0.1, 0.9)

    def infer(a, data, moving_avg):
        dtype = same_dtype((data, moving_avg), ("data", "moving_avg"))
        if data.shape is not None:
            require(data.ndim >= 2, f"data: expected at least 2 dimensions, got {data.shape}")
            units = -1 if -1 in data.shape[1:] else Spec(data.shape[1:]).size
            moving_avg.fill("moving_avg", (units,))
        return Spec(data.shape, dtype)

    def grad(a, F, g, data, moving_avg):
        return F._kl_sparse_grad(
            g,
            data,
            moving_avg,
            sparseness_target=a.sparseness_target,
            penalty=a.penalty,
            momentum=a.momentum,
        )

    def ref(a, xp, data, moving_avg):
        return data, moving_avg


@op("_kl_sparse_grad", inputs="grad data moving_avg", mutates=("moving_avg",))
class _KlSparseGrad:
    """Gradient of IdentityAttachKLSparseReg; updates the running average."""

    sparseness_target: Float
    penalty: Float
    momentum: Float

    domain = (0.1, 0.9)
    grad = no_rule
    samples = (
        sample(
            (3, 4),
            (3, 4),
            (4,),
            sparseness_target=0.1,
            penalty=0.1,
            momentum=0.9,
            grad=False,
            tol=4,
        ),
    )

    def infer(a, grad, data, moving_avg):
        out = IdentityAttachKLSparseReg._infer(a, data, moving_avg)
        grad.fill("grad", out.shape, out.dtype)
        return out

    def ref(a, xp, grad, data, moving_avg):
        mean = data.reshape(len(data), -1).mean(0)
        moving_avg = a.momentum * moving_avg + (1 - a.momentum) * mean
        target = a.sparseness_target
        penalty = a.penalty * ((1 - target) / (1 - moving_avg) - target / moving_avg)
        return grad + penalty.reshape(data.shape[1:]), moving_avg
