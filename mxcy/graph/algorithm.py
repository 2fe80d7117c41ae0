"""Kernel selection for fused layers, by short trials whose results are stored per machine.

Each trial runs a candidate on its own memory, with at most `_MOST_ROWS` samples of a batch, or
`_MOST_VECTORS` vectors for a dense layer. Without trials (MXNET_CUDNN_AUTOTUNE_DEFAULT=0,
MXNET_ENFORCE_DETERMINISM=1) the first candidate that accepts is used.
"""

import math

from mxcy._base import dtypes
from mxcy.graph.node import attrs_of
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

__all__ = ["TILES", "TUNE", "Choice", "choose_conv", "choose_deconv", "choose_dense", "choose_int8"]

_OCTET, _BFLOAT = dtypes.CODES["uint8"], dtypes.CODES["bfloat16"]
#: `extra` key for a fused convolution's `cudnn_tune` attribute
TUNE = "__cudnn_tune__"
#: the AMX kernel of bfloat16 convolutions, with channels-last arrays
TILES = "conv_onednn_tiles"

_MOST_ROWS = 4
_MOST_VECTORS = 1024
_BUDGET = 2_000_000  # nanoseconds per candidate and round
_ROUNDS = 4
_CLOSE = 1.5  # times the best time so far: slower candidates get no further round

#: convolution kernels, likely best first, with the parameters to try
_CONV = {
    # tiles at a time: as fit the cache, many for large weights, or none that threads share
    "conv_winograd": (0, 96, -1),
    "conv_winograd_small": (96,),
    "conv_winograd_large": (0,),
    "conv_winograd_strided": (0,),
    "conv_winograd_strided_small": (0,),
    "conv_winograd_phases": (0,),
    "conv_onednn": (0,),
    "conv_blocked": (0,),
    "conv_tiles": (0,),
    "conv_depthwise_blocked": (0,),
}
#: kernels that can scale, shift and rectify their input
_SCALING = {"conv_blocked": (0,), "conv_tiles": (0,)}
_DECONV = {"deconv_onednn": (0, 1, 2)}  # oneDNN's preferred layout, the given one, row-major
#: dense kernels; Strassen's algorithm with two levels, one, or one without sharing between threads
_DENSE = {"fc_panels": (0,), "fc_onednn": (0,), "fc_strassen": (2, 1, 3), "fc_tiles": (0,)}
#: int8 kernels
_INT8 = {
    "_int8_conv": {
        "int8_conv_onednn": (0,),
        "int8_conv_tiles": (0,),
        "int8_conv_direct": (0,),
        "int8_conv_depthwise": (0,),
        "int8_conv_winograd": (0,),
    },
    "_int8_dense": {"int8_dense_onednn": (0,), "int8_dense_tiles": (0,), "int8_dense_direct": (0,)},
}
#: attributes without influence on times: layers that differ only in these share a trial
_UNTIMED = {"algo", "tile", "packed", "zero", "limit", "other_scale"}
#: attributes that are left out of stored results where they are 0
_RARE = {"spare_channels", "spare_filters"}
#: bfloat16 kernels
_NARROW_CONV: dict[str, tuple[int, ...]] = {
    "conv_winograd_bf16": (0, 96),
    "conv_onednn_bf16": (0, 1),
}
#: bfloat16 kernels for channels-last arrays
_NARROW_LAST: dict[str, tuple[int, ...]] = {
    TILES: (0, 1),
    "conv_tiles_bf16": (0,),
    "conv_depthwise_bf16": (0,),
}
_NARROW_DENSE = {"fc_onednn_bf16": (0,), "fc_tiles_bf16": (0,)}


class Choice:
    """A kernel, its parameter, and the size and layout id of its packed weights."""

    __slots__ = ("algo", "tile", "packed", "format")

    def __init__(self, algo, tile, packed, format):
        self.algo, self.tile, self.packed, self.format = algo, tile, packed, format


class _Candidate:
    """A kernel for a signature, as the library's queries take it."""

    def __init__(self, target, op, attrs, ins, algo, tile):
        self._target, self._op = target, op
        self.algo, self.tile = algo, tile
        tiled = {"tile": tile} if "tile" in op.schema.by_name else {}
        self.attrs = attrs_of(op, {**attrs, **tiled, "algo": algo, "packed": 1})
        self.ins = [Spec(spec.shape, spec.dtype) for spec in ins]
        self.ins[1] = Spec((1,), _OCTET)
        self.outs = op.infer(self.attrs, self.ins)
        kernel = op.kernels[0]
        self.params = kernel.struct.pack(**kernel.params(self.attrs, self.ins, self.outs))
        self.work = kernel.work(self.attrs, self.ins, self.outs)

    def refusal(self):
        """The reason why the kernel cannot be used, or None."""
        if not self._target.has_kernel(self.algo, self.ins[0].dtype):
            return "not available"
        return self._ask("accepts")

    def packed(self):
        """The size of the packed weights in bytes."""
        return self._ask("packed")

    def format(self):
        """The layout id of the packed weights."""
        return self._ask("format")

    def _ask(self, what):
        return self._target.query(self.algo, self.params, self.ins, self.outs, what)

    def time(self):
        """The time of a run in nanoseconds."""
        self.ins[1] = Spec((self.packed(),), _OCTET)
        workspace = self._ask("workspace")
        return self._target.measure(
            self.algo,
            self.ins[0].dtype,
            self.params,
            self.ins,
            self.outs,
            workspace,
            self.work,
            _BUDGET,
        )


def choose_conv(target, attrs, ins, tune=None, last=False):
    """Select the kernel of a `_sg_onednn_conv` with attributes and input specs, or None.

    `tune` is its `cudnn_tune`: ``'off'`` disables trials. `last` means channels-last arrays.
    """
    names = _CONV if attrs.get("before", "none") == "none" else _SCALING
    if ins[0].dtype == _BFLOAT:
        narrow = _NARROW_LAST if last else _NARROW_CONV
        names = narrow if names is _CONV else {}
    names = _allowed(target, names)
    return _choose(target, find("_sg_onednn_conv"), attrs, ins, names, tune != "off")


def choose_deconv(target, attrs, ins, tune=None, last=False):
    """Select the kernel of a `_sg_onednn_deconv`, or None; see `choose_conv`."""
    return _choose(target, find("_sg_onednn_deconv"), attrs, ins, _DECONV, tune != "off")


def choose_dense(target, attrs, ins):
    """Select the kernel of a `_sg_onednn_fully_connected`, or None."""
    if target.settings["MXNET_ONEDNN_FORCE_FC_AB_FORMAT"]:
        return None
    names = _NARROW_DENSE if ins[0].dtype == _BFLOAT else _DENSE
    return _choose(target, find("_sg_onednn_fully_connected"), attrs, ins, names)


def choose_int8(target, op, attrs, ins):
    """Select the kernel of an int8 layer with record `op`, or None."""
    return _choose(target, op, attrs, ins, _allowed(target, _INT8[op.name]))


def _allowed(target, names):
    """The kernels without those of Winograd's form if the settings forbid it."""
    if target.settings["MXNET_CUDNN_ALLOW_WINOGRAD"]:
        return names
    return {name: tiles for name, tiles in names.items() if "winograd" not in name}


def _choose(target, op, attrs, ins, names, tries=True):
    key = (op.name, tries, tuple(names), *attrs.items(), *((s.shape, s.dtype) for s in ins))
    if key not in target.choices:
        target.choices[key] = _choose_anew(target, op, attrs, ins, names, tries and target.tries)
    return target.choices[key]


def _choose_anew(target, op, attrs, ins, names, tries):
    accepted = [
        candidate
        for algo, tiles in names.items()
        for candidate in (_Candidate(target, op, attrs, ins, algo, tile) for tile in tiles)
        if candidate.refusal() is None
    ]
    if not accepted:
        return None
    best = accepted[0]
    if tries and len(accepted) > 1:
        best = _fastest(target, op, attrs, ins, accepted)
    target.report(1, f"{op.name} {ins[0]}: {best.algo} tile {best.tile}")
    return Choice(best.algo, best.tile, best.packed(), best.format())


def _fastest(target, op, attrs, ins, accepted):
    """The winner of the trial, taken from the stored results if available."""
    sample_specs = [_few_rows(op, spec) for spec in ins]
    trials = [_Candidate(target, op, attrs, sample_specs, c.algo, c.tile) for c in accepted]
    trials = [trial for trial in trials if trial.refusal() is None]
    if not trials:
        return accepted[0]
    key = _memory_key(op, attrs, sample_specs, accepted)
    best = _remembered(target.memory.get(key), accepted)
    if best is None:
        times = _times(trials)
        winner = trials[times.index(min(times))]
        for trial, time in zip(trials, times, strict=True):
            mark = "*" if trial is winner else " "
            target.report(2, f"{mark} {trial.algo} tile {trial.tile}: {time / 1e3:.0f} us")
        target.memory[key] = [winner.algo, winner.tile]
        best = _remembered(target.memory[key], accepted)
    return best


def _remembered(won, accepted):
    """The stored winner, or None if it is not among the accepted candidates."""
    return next((c for c in accepted if [c.algo, c.tile] == won), None)


def _memory_key(op, attrs, ins, accepted):
    """The key of a trial's stored result; image sizes are rounded.

    It has the candidates, so that a release with other kernels tries again.
    """
    shapes = [tuple(map(_about, spec.shape)) for spec in (ins[0], *ins[2:])]
    kept = {name: value for name, value in attrs.items() if name not in _UNTIMED}
    kept = {name: value for name, value in kept.items() if value or name not in _RARE}
    suffix = f" {dtypes.name_of(ins[0].dtype)}" if ins[0].dtype == _BFLOAT else ""
    candidates = " ".join(f"{c.algo}:{c.tile}" for c in accepted)
    return f"{op.name} {kept} {shapes}{suffix} {candidates}"


def _about(extent):
    """Round a size to three significant bits: 1 ... 8, 10, 12, 14, 16, 20 ..."""
    dropped_bits = max(extent.bit_length() - 3, 0)
    return extent >> dropped_bits << dropped_bits


def _times(trials):
    """The minimum time of each candidate over alternating rounds, to reduce noise."""
    best = [trial.time() for trial in trials]
    for _ in range(_ROUNDS - 1):
        bound = _CLOSE * min(best)
        best = [
            time if time > bound else min(time, trial.time())
            for time, trial in zip(best, trials, strict=True)
        ]
    return best


def _few_rows(op, spec):
    """Limit the spec of data or output to `_MOST_ROWS` samples; parameters are unchanged."""
    most = _MOST_ROWS
    if op.name == "_sg_onednn_fully_connected":
        most = max(1, _MOST_VECTORS // math.prod(spec.shape[1:-1]))
    if len(spec.shape) < 3 or spec.shape[0] <= most:
        return spec
    return Spec((most, *spec.shape[1:]), spec.dtype)
