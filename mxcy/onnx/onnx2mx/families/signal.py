"""Signal processing: Fourier transforms by matrix products, and filters."""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.padding import padded
from mxcy.onnx.onnx2mx.families.parts import sliced
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of

__all__ = []


def _matrices(n, count, inverse, dtype):
    """Cosine and sine matrices of the transform of `n` elements, with `count` columns."""
    turns = np.outer(np.arange(n), np.arange(count)) % n / n
    sign = 1 if inverse else -1
    scale = 1 / n if inverse else 1.0
    angles = 2 * np.pi * turns
    return (np.cos(angles) * scale).astype(dtype), (sign * np.sin(angles) * scale).astype(dtype)


def _transformed(F, x, axis, length, inverse, onesided):
    """Transform (..., 1 or 2) along an axis."""
    parts, n = x.full_shape[-1], x.full_shape[axis]
    if length != n:
        if length < n:
            x = sliced(F, x, [0], [length], [axis])
        else:
            after = [length - n if i == axis else 0 for i in range(x.ndim)]
            x = padded(F, x, [0] * x.ndim, after)
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    moved = x.transpose(*order)  # (..., parts, length)
    place = moved.ndim - 2

    def part(number):
        return F.part(moved, place, number, number + 1)

    count = length // 2 + 1 if onesided and not inverse else length
    cos, sin = (F.constant(m) for m in _matrices(length, count, inverse, x.dtype))
    real, imaginary = F("_npi_matmul", part(0), cos), F("_npi_matmul", part(0), sin)
    if parts == 2:
        real = real - F("_npi_matmul", part(1), sin)
        imaginary = imaginary + F("_npi_matmul", part(1), cos)
    transform = F.concat([real, imaginary], place)
    return transform.transpose(*(order.index(i) for i in range(x.ndim)))


@row("DFT", since=17)
def dft_by_attribute(F, a, x, length=None):
    return _dft(F, a, x, length, a.axis)


@row("DFT", since=20)
def dft(F, a, x, length=None, axis=None):
    return _dft(F, a, x, length, -2 if axis is None else axis.integers("the input axis")[0])


def _whole(F, x, axis, n, length):
    """Complete the one-sided spectrum of a real signal; return it and the signal's length."""
    n = 2 * (n - 1) if length is None else length.integers("the input dft_length")[0]
    half = n // 2 + 1
    there = x.full_shape[axis]
    if there != half:
        after = [half - there if i == axis else 0 for i in range(x.ndim)]
        x = padded(F, x, [0] * x.ndim, after)
    places = np.arange(n - half, 0, -1) if n > half else np.arange(0)
    mirrored = F("take", x, F.constant(places.astype(np.int64)), axis=axis, mode="clip")
    conjugates = F.binary("multiply", mirrored, F.constant(np.array([1, -1], x.dtype)))
    return F.concat([x, conjugates], axis) if n > half else x, n


def _dft(F, a, x, length, axis):
    axis %= x.ndim
    n = x.full_shape[axis]
    if a.inverse and a.onesided:
        x, n = _whole(F, x, axis, n if length is None else None, length)
        real = _transformed(F, x, axis, n, True, False)
        return F.part(real, x.ndim - 1, 0, 1)
    n = n if length is None else length.integers("the input dft_length")[0]
    return _transformed(F, x, axis, n, bool(a.inverse), bool(a.onesided))


@row("STFT", since=17)
def stft(F, a, signal, step, window=None, length=None):
    (step,) = step.integers("the input frame_step")
    if length is not None:
        (length,) = length.integers("the input frame_length")
    else:
        length = window.full_shape[0]
    batch, samples, parts = signal.full_shape
    frames = (samples - length) // step + 1
    if step <= 0 or frames <= 0:
        raise MXNetError(f"frames of {length} every {step} do not fit {samples} samples")
    places = np.arange(frames)[:, None] * step + np.arange(length)
    cut = F("take", signal, F.constant(places.reshape(-1)), axis=1, mode="clip")
    cut = cut.reshape(batch, frames, length, parts)
    if window is not None:
        cut = cut * window.reshape(1, 1, -1, 1)
    return _transformed(F, cut, 2, length, False, bool(a.onesided))


@row("MelWeightMatrix", since=17)
def mel_weights(F, a, bins, length, rate, low, high):
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    bins, length, rate, low, high = (
        float(value.numbers(f"the input {name}").reshape(()))
        for value, name in zip((bins, length, rate, low, high), names, strict=True)
    )
    code = code_of(a.output_datatype, "attribute output_datatype")
    count = int(length) // 2 + 1

    def mel(hertz):
        return 2595 * np.log10(1 + hertz / 700)

    edges = np.arange(int(bins) + 2) * ((mel(high) - mel(low)) / (int(bins) + 2)) + mel(low)
    places = ((length + 1) * (700 * (10 ** (edges / 2595) - 1)) // rate).astype(int)
    matrix = np.zeros((count, int(bins)))
    for i in range(int(bins)):
        first, middle, last = places[i : i + 3]
        if middle == first:
            matrix[middle, i] = 1
        else:
            rise = np.arange(first, middle + 1)
            matrix[rise, i] = (rise - first) / (middle - first)
        if last != middle:
            fall = np.arange(middle, last)
            matrix[fall, i] = (last - fall) / (last - middle)
    return F.constant(matrix.astype(dtypes.DTYPES[code]))
