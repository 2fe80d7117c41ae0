"""Connectionist temporal classification (CTC) loss."""

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.activation.softmax import log_softmax
from mxcy.ops.core.attrs import Bool, Enum
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import CTC
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.norm.batch import require_float

__all__ = []

#: dtypes of labels and lengths that the kernel reads
_READABLE = {"float16", "float32", "float64", "int8", "uint8", "int32", "int64"}


def _label_lengths(xp, label, padding):
    """Return the number of labels before the padding in each row."""
    ends = xp.concatenate([label == padding, xp.ones((len(label), 1), bool)], axis=1)
    return ends.argmax(1)


def _later(xp, scores, steps):
    """Shift scores right by `steps`, filling with minus infinity."""
    moved = xp.full_like(scores, -xp.inf)
    moved[:, steps:] = scores[:, :-steps]
    return moved


def _logaddexp(xp, first, *others):
    for other in others:
        first = xp.logaddexp(first, other)
    return first


def _logsumexp(xp, exponents, axis):
    largest = exponents.max(axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, 0)
    with np.errstate(divide="ignore"):
        total = xp.log(xp.exp(exponents - largest).sum(axis))
    return total + xp.squeeze(largest, axis)


class _Lattice:
    """Lattice of all alignments: blanks at even states, labels between them.

    Parameters
    ----------
    xp : module
    emitted : array (batch, time, states)
        Log-probability of each state at each time.
    skips : array (batch, states)
        Whether a state may skip the preceding blank.
    times, lengths : array (batch,)
        Valid numbers of steps and labels.
    """

    def __init__(self, xp, emitted, skips, times, lengths):
        self.xp, self.emitted, self.times = xp, emitted, times[:, None]
        self.forbidden = xp.where(skips, 0, -xp.inf)
        states = xp.arange(emitted.shape[2])
        last = 2 * lengths[:, None]
        self.final = xp.where((states == last) | (states == last - 1), 0, -xp.inf)

    def forward(self):
        """Return the log-probability of the paths up to each state, for each time."""
        xp = self.xp
        first = xp.full_like(self.emitted[:, 0], -xp.inf)
        first[:, :2] = self.emitted[:, 0, :2]
        steps = [first]
        for t in range(1, self.emitted.shape[1]):
            before = steps[-1]
            reached = _logaddexp(
                xp, before, _later(xp, before, 1), _later(xp, before, 2) + self.forbidden
            )
            steps.append(xp.where(t < self.times, reached + self.emitted[:, t], before))
        return xp.stack(steps, 1)

    def backward(self):
        """Return the log-probability of the paths from each state onwards, for each time."""
        xp, steps = self.xp, [self.final]
        for t in range(self.emitted.shape[1] - 1, 0, -1):
            after = steps[-1] + self.emitted[:, t]
            skipped = (after + self.forbidden)[:, ::-1]
            next_label, after_next = (
                _later(xp, x, n)[:, ::-1] for n, x in ((1, after[:, ::-1]), (2, skipped))
            )
            left = _logaddexp(xp, after, next_label, after_next)
            steps.append(xp.where(t < self.times, left, self.final))
        return xp.stack(steps[::-1], 1)


def _losses(a, xp, data, label, times, lengths):
    """Return the losses and their gradients with respect to the data."""
    steps, batch, classes = data.shape
    blank = 0 if a.blank_label == "first" else classes - 1
    log_probability = log_softmax(xp, data.astype("float64"), 2).swapaxes(0, 1)
    states = xp.full((batch, 2 * label.shape[1] + 1), blank)
    states[:, 1::2] = xp.clip(label, 0, classes - 1)
    where = xp.broadcast_to(states[:, None, :], (batch, steps, states.shape[1]))
    emitted = xp.take_along_axis(log_probability, where, 2)
    skips = xp.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    lattice = _Lattice(xp, emitted, skips, times, lengths)
    paths = lattice.forward() + lattice.backward()
    total = _logsumexp(xp, paths[:, :1], 2)
    possible = xp.isfinite(total)
    share = xp.exp(
        xp.where(possible[..., None], paths - xp.where(possible, total, 0)[..., None], -xp.inf)
    )
    expected = xp.zeros((batch, steps, classes))
    for k in range(states.shape[1]):
        rows = xp.arange(batch)
        expected[rows, :, states[:, k]] += share[:, :, k]
    counts = (xp.arange(steps) < times[:, None])[..., None] & possible[..., None]
    grad = xp.where(counts, xp.exp(log_probability) - expected, 0).swapaxes(0, 1)
    return xp.where(possible, -total, 0)[:, 0], grad


def _params(a, ins, outs):
    steps, batch, classes = ins[0].shape
    return {
        "steps": steps,
        "batch": batch,
        "classes": classes,
        "labels": ins[1].shape[1],
        "blank": 0 if a.blank_label == "first" else classes - 1,
        "padding": 0 if a.blank_label == "first" else -1,
        "data_lengths": 2 if a.use_data_lengths else -1,
        "label_lengths": len(ins) - 1 if a.use_label_lengths else -1,
    }


def _refuse(a, ins, outs):
    if 0 in ins[0].shape:
        return "no steps or classes"
    kinds = {dtypes.name_of(spec.dtype) for spec in ins[1:]} - _READABLE
    return f"no labels or lengths of {', '.join(kinds)}" if kinds else None


def _work(a, ins, outs):
    steps, batch, classes = ins[0].shape
    return steps * batch * (classes + 32 * ins[1].shape[1])


@op(
    "CTCLoss",
    aliases=("_contrib_CTCLoss", "_contrib_ctc_loss", "_npx_ctc_loss", "ctc_loss"),
    inputs="data label data_lengths? label_lengths?",
    outputs="loss data_grad",
    visible=1,
    amp="fp32",
)
class CTCLoss:
    """Compute the connectionist temporal classification (CTC) loss.

    The loss is the negative log-probability of all alignments of a sequence with its labels.

    Shapes: data (time, batch, classes), before softmax; label (batch, labels) with class indices,
    padded with 0, or with -1 if the blank is the last class instead of the first (`blank_label`);
    data_lengths and label_lengths (batch,), used with `use_data_lengths` and `use_label_lengths`;
    out (batch,). Labels too long for the data give 0 and no gradient. Only the data has a gradient;
    the hidden second output holds it.
    """

    use_data_lengths: Bool = False
    use_label_lengths: Bool = False
    blank_label: Enum("first", "last") = "first"

    kernels = (
        native("ctc_loss", struct=CTC, params=_params, when=_refuse, work=_work, mixed=True),
    )

    def samples():
        first = values(1, 5, (3, 2), "int32")
        lengths = values(4, 6, (3,), "int32"), values(1, 3, (3,), "int32")
        yield sample((6, 3, 5), first, tol=10)
        yield sample((6, 3, 5), values(0, 4, (3, 2), "int32"), blank_label="last", tol=10)
        yield sample(
            (6, 3, 5), first, *lengths, use_data_lengths=True, use_label_lengths=True, tol=10
        )
        yield sample((6, 3, 5), first, lengths[1], use_label_lengths=True, tol=10)

    def arguments(a):
        lengths = {"data_lengths": a.use_data_lengths, "label_lengths": a.use_label_lengths}
        return ("data", "label", *(name for name, used in lengths.items() if used))

    def infer(a, data, label, *lengths):
        require_float(data)
        if data.shape is None:
            return Spec(None, data.dtype), Spec(None, data.dtype)
        require(data.ndim == 3, f"data: expected 3 dimensions, got {data.shape}")
        steps, batch, _ = data.shape
        label.fill("label", (batch, -1))
        fits = -1 in (steps, label.shape[1]) or label.shape[1] <= steps
        require(fits, f"label: {label.shape[1]} labels do not fit into {steps} steps")
        names = [name for name in CTCLoss.arguments(a) if name.endswith("lengths")]
        for name, spec in zip(names, lengths, strict=True):
            spec.fill(name, (batch,))
        return Spec((batch,), data.dtype), Spec(data.shape, data.dtype)

    def grad(a, F, g, data_grad, specs):
        if g[1] is not None:
            raise MXNetError("Error in operator CTCLoss: the gradient of its data has no gradient")
        return F.broadcast_mul(data_grad, F.Reshape(g[0], shape=(1, specs[0].shape[1], 1)))

    def ref(a, xp, data, label, *lengths):
        lengths = [array.astype("int64") for array in lengths]
        label = label.astype("int64")
        times = lengths.pop(0) if a.use_data_lengths else xp.full(len(label), len(data))
        if not lengths:
            lengths.append(_label_lengths(xp, label, 0 if a.blank_label == "first" else -1))
        loss, grad = _losses(a, xp, data, label, times, lengths[0])
        return loss.astype(data.dtype), grad.astype(data.dtype)
