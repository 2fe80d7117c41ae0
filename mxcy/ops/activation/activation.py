"""Activation: an elementwise activation function chosen by name."""

from mxcy.ops.activation.definitions import sigmoid, softrelu
from mxcy.ops.core.attrs import Enum
from mxcy.ops.core.infer import Spec, back_data, same_specs
from mxcy.ops.core.precision import Precision
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import by_onednn, native, op, sample

__all__ = []


_ACTIVATIONS = {
    "relu": lambda xp, x: xp.maximum(x, 0),
    "sigmoid": sigmoid,
    "softrelu": softrelu,
    "softsign": lambda xp, x: x / (1 + xp.abs(x)),
    "tanh": lambda xp, x: xp.tanh(x),
}
_KERNELS = {name: "softplus" if name == "softrelu" else name for name in _ACTIVATIONS}
#: computed by other operators, gradients included
_OPERATORS = ("log_sigmoid", "mish")


_ACTIVATION = native(
    lambda a, ins, outs: _KERNELS.get(a.act_type, a.act_type), inplace=True, pointwise=True
)
_ACTIVATION_GRAD = native(
    lambda a, ins, outs: f"{_KERNELS[a.act_type]}_grad", inplace=True, pointwise=True
)


@op(
    "Activation",
    aliases=("_npx_activation",),
    inputs="data",
    numpy="npx.activation(data, act_type='relu', out=None, name=None)",
    amp=Precision("either", "either", fp32_when=("act_type", ("softrelu",))),
)
class Activation:
    """Apply an activation function elementwise.

    relu: max(x, 0); sigmoid: 1 / (1 + exp(-x)); softrelu: log(1 + exp(x)); softsign:
    x / (1 + abs(x)); tanh; log_sigmoid: log(1 / (1 + exp(-x))); mish: x tanh(log(1 + exp(x))).
    """

    act_type: Enum("relu", "sigmoid", "softrelu", "softsign", "tanh", beyond=_OPERATORS)

    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (-3.0, 3.0)
    kernels = (_ACTIVATION, by_onednn(_ACTIVATION))

    def samples():
        for act_type in (*_ACTIVATIONS, *_OPERATORS):
            yield sample((3, 4, 5), act_type=act_type)

    def infer(a, data):
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    quantized = Quantized(
        "_contrib_quantized_act",
        refusal=lambda a: None if a.act_type == "relu" else f"act_type={a.act_type!r}",
    )

    def epilogue(a):
        return None if a.act_type in ("softsign", *_OPERATORS) else (a.act_type, 0.0, 0.0)

    def grad(a, F, g, data, out):
        if a.act_type == "log_sigmoid":
            return g * (1 - F.exp(out))
        if a.act_type == "mish":
            squashed, gate = F.tanh(F.Activation(data, act_type="softrelu")), F.sigmoid(data)
            return g * (squashed + data * gate * (1 - squashed * squashed))
        saved = data if a.act_type == "softsign" else out
        return F._activation_grad(g, saved, act_type=a.act_type)

    def ref(a, xp, data):
        if a.act_type == "log_sigmoid":
            return -softrelu(xp, -data)
        if a.act_type == "mish":
            return data * xp.tanh(softrelu(xp, data))
        return _ACTIVATIONS[a.act_type](xp, data)


# The derivative in terms of what was saved: the input of softsign, else the output.
_SLOPES = {
    "relu": lambda xp, y: (y > 0).astype(y.dtype),
    "sigmoid": lambda xp, y: y * (1 - y),
    "softrelu": lambda xp, y: -xp.expm1(-y),
    "softsign": lambda xp, x: 1 / (1 + xp.abs(x)) ** 2,
    "tanh": lambda xp, y: 1 - y * y,
}
_CURVATURES = {
    "relu": lambda F, y: F.zeros_like(y),
    "sigmoid": lambda F, y: 1 - 2 * y,
    "softrelu": lambda F, y: F.exp(-y),
    "softsign": lambda F, x: -2 * F.sign(x) / (1 + F.abs(x)) ** 3.0,
    "tanh": lambda F, y: -2 * y,
}


@op("_activation_grad", inputs="grad saved")
class _ActivationGrad:
    """Gradient of Activation: the head gradient times the derivative at the saved array."""

    act_type: Enum("relu", "sigmoid", "softrelu", "softsign", "tanh")

    complexes = True  # of tanh
    dtypes = ("float32", "float64", "float16", "bfloat16")
    domain = (0.1, 0.9)
    kernels = (_ACTIVATION_GRAD, by_onednn(_ACTIVATION_GRAD))

    def samples():
        for act_type in _ACTIVATIONS:
            yield sample((3, 4, 5), (3, 4, 5), act_type=act_type)

    def infer(a, grad, saved):
        return same_specs((grad, saved), ("grad", "saved"))

    def grad(a, F, g, grad, saved):
        by_grad = F._activation_grad(g, saved, act_type=a.act_type)
        return by_grad, g * grad * _CURVATURES[a.act_type](F, saved)

    def ref(a, xp, grad, saved):
        return grad * _SLOPES[a.act_type](xp, saved)
