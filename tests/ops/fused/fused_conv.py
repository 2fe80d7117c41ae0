"""Run a fused convolution kernel on blocked arrays, and compute its float64 result."""

import math

import numpy as np

from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import FUSED_CONV
from tests.ops.kernel_call import library, run_kernel

__all__ = ["BLOCK", "Problem", "from_blocked", "to_blocked"]

BLOCK = 16 if library().mx_isa() >= 4 else 8
ACTIVATIONS = {
    "none": (0, lambda x: x),
    "relu": (1, lambda x: np.maximum(x, 0)),
    "sigmoid": (2, lambda x: 1 / (1 + np.exp(-x))),
    "tanh": (3, np.tanh),
    "softrelu": (4, lambda x: np.logaddexp(x, 0)),
    "leaky": (5, lambda x: np.where(x < 0, 0.25 * x, x)),
    "elu": (6, lambda x: np.where(x < 0, 0.25 * np.expm1(x), x)),
    "gelu_erf": (7, lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2),
    "gelu_tanh": (
        8,
        lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    ),
    "clip": (9, lambda x: np.clip(x, 0.25, 0.5)),
    "abs": (10, np.abs),
    "square": (11, np.square),
    "exp": (13, np.exp),
    "linear": (14, lambda x: 0.25 * x + 0.5),
    "swish": (15, lambda x: x / (1 + np.exp(-x))),
    "hard_swish": (16, lambda x: x * np.clip(0.25 * x + 0.5, 0, 1)),
}


def to_blocked(array):
    """(N, C, spatial...) as (N, C / BLOCK, spatial..., BLOCK), in memory of its own."""
    n, c, *spatial = array.shape
    split = array.reshape(n, c // BLOCK, BLOCK, *spatial)
    return np.moveaxis(split, 2, -1).copy()  # of single pixels it is a view of the array


def from_blocked(array):
    """The inverse of `to_blocked`."""
    n, c, *spatial, block = array.shape
    return np.moveaxis(array, -1, 2).reshape(n, c * block, *spatial)


class Problem:
    """One fused convolution with random arrays.

    Parameters
    ----------
    images, channels, filters : int
    source, kernel, pad, stride, dilate : tuple of int
        Two spatial extents each.
    bias, other : bool
        Whether there is a bias, and an array to add.
    act : str
        A key of `ACTIVATIONS`; alpha is 0.25 and beta 0.5.
    tile : int
    in_block, out_block : int, optional
        `BLOCK` unless told.
    groups : int
    before : int
        1: the data is scaled and shifted first; 2: and goes through a ReLU.
    spare : tuple of int
        Numbers of last channels and filters with zero weights.
    """

    def __init__(
        self,
        images,
        channels,
        filters,
        source,
        kernel=(3, 3),
        pad=(1, 1),
        stride=(1, 1),
        bias=True,
        other=False,
        act="none",
        tile=0,
        in_block=BLOCK,
        out_block=BLOCK,
        groups=1,
        dilate=(1, 1),
        before=0,
        spare=(0, 0),
    ):
        rng = np.random.default_rng(5)
        target = [
            (n + 2 * p - (k - 1) * d - 1) // s + 1
            for n, p, k, s, d in zip(source, pad, kernel, stride, dilate, strict=True)
        ]
        self.kernel, self.pad, self.stride, self.dilate = kernel, pad, stride, dilate
        self.act = act
        self.in_block, self.out_block = in_block, out_block
        self.data = rng.uniform(-1, 1, (images, channels, *source)).astype(np.float32)
        shape = (filters, channels // groups, *kernel)
        self.weight = rng.uniform(-1, 1, shape).astype(np.float32)
        self.weight[:, shape[1] - spare[0] :] = 0
        self.weight[filters - spare[1] :] = 0
        self.bias = rng.uniform(-1, 1, filters).astype(np.float32) if bias else None
        shape = (images, filters, *target)
        self.other = rng.uniform(-1, 1, shape).astype(np.float32) if other else None
        self.out_shape = shape
        self.before, self.vectors = before, []
        if before:
            self.vectors = [rng.uniform(-1, 1, channels).astype(np.float32) for _ in range(2)]
        self.values = {
            "batch": images,
            "groups": groups,
            "channels": channels // groups,
            "filters": filters // groups,
            "source": (1, *source),
            "target": (1, *target),
            "kernel": (1, *kernel),
            "stride": (1, *stride),
            "dilate": (1, *dilate),
            "pad": (0, *pad),
            "in_block": in_block,
            "out_block": out_block,
            "spare_channels": spare[0],
            "spare_filters": spare[1],
            "before": before,
            "bias": int(bias),
            "sum": int(other),
            "act": ACTIVATIONS[act][0],
            "tile": tile,
            "alpha": 0.25,
            "beta": 0.5,
        }
        self.params = FUSED_CONV.pack(**self.values)

    def arrays(self):
        """The inputs except the weight, in the kernel's layout, and an output full of NaN."""
        data = to_blocked(self.data) if self.in_block else self.data
        place = to_blocked if self.out_block else np.ascontiguousarray
        other = None if self.other is None else place(self.other)
        out = place(np.full(self.out_shape, np.nan, np.float32))
        return data, self.bias, other, out

    def _inputs(self, blob):
        """The inputs that the kernel reads."""
        data, bias, other, _ = self.arrays()
        return [
            data,
            blob,
            *([] if bias is None else [bias]),
            *self.vectors,
            *([] if other is None else [other]),
        ]

    def ask(self, kernel, what):
        """Query the kernel, as plans do."""
        ins, out = self._inputs(np.zeros(0, np.uint8)), self.arrays()[-1]
        specs = [[Spec(x.shape, code_of(x.dtype)) for x in side] for side in (ins, [out])]
        return front.query(kernel, self.params, *specs, what)

    def run(self, kernel, threads=1, in_place=False, pack=None):
        """The output as (N, C, spatial...); packs the weight by `pack`."""
        reason = self.ask(kernel, "accepts")
        if reason is not None:
            raise MXNetError(reason)
        blob = np.empty(self.ask(kernel, "packed"), np.uint8)
        run_kernel(pack or f"{kernel}_pack", [self.weight], [blob], self.params, threads=threads)
        ins, out = self._inputs(blob), self.arrays()[-1]
        if in_place:
            out = ins[-1]
        workspace = self.ask(kernel, "workspace")
        run_kernel(kernel, ins, [out], self.params, threads=threads, workspace=workspace)
        return from_blocked(out) if self.out_block else out

    def answer(self):
        """The output in float64."""
        margins = [(0, 0), (0, 0), *((p, p) for p in self.pad)]
        data = self.data.astype(np.float64)
        if self.before:
            scale, shift = (vector[:, None, None] for vector in self.vectors)
            data = data * scale + shift
        if self.before == 2:
            data = np.maximum(data, 0)
        data = np.pad(data, margins)
        weight = self.weight.astype(np.float64)
        (high, wide), (down, right) = self.out_shape[2:], self.stride
        out, groups = np.zeros(self.out_shape), self.values["groups"]
        weight = weight.reshape(groups, -1, *weight.shape[1:])
        for y in range(self.kernel[0]):
            for x in range(self.kernel[1]):
                top, left = y * self.dilate[0], x * self.dilate[1]
                seen = data[
                    :,
                    :,
                    top : top + down * (high - 1) + 1 : down,
                    left : left + right * (wide - 1) + 1 : right,
                ]
                seen = seen.reshape(len(seen), groups, -1, high, wide)
                part = np.einsum("ngchw,gfc->ngfhw", seen, weight[..., y, x], optimize=True)
                out += part.reshape(self.out_shape)
        if self.bias is not None:
            out += self.bias[:, None, None]
        if self.other is not None:
            out += self.other
        return ACTIVATIONS[self.act][1](out)

    def error(self, out):
        """The largest error of an output, relative to the largest element."""
        answer = self.answer()
        return np.abs(out - answer).max() / np.abs(answer).max()
