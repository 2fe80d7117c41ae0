"""Kernel, strides and padding of convolutions and pooling."""

from mxcy.base import MXNetError

__all__ = ["Windows", "automatic"]


def automatic(kind, extents, kernel, strides, dilations):
    """The padding (before, after) specified by `auto_pad`."""
    if kind == "VALID":
        return (0,) * len(kernel), (0,) * len(kernel)
    if kind not in ("SAME_UPPER", "SAME_LOWER"):
        raise MXNetError(f"attribute auto_pad: {kind!r} is not known")
    before, after = [], []
    for n, k, s, d in zip(extents, kernel, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        half = total // 2
        before.append(half if kind == "SAME_UPPER" else total - half)
        after.append(total - before[-1])
    return tuple(before), tuple(after)


class Windows:
    """Kernel, strides, dilations and padding of a node, with defaults.

    Parameters
    ----------
    a : Attributes
    x : Value
        Data with batch and channels first.
    kernel : tuple of int
    """

    def __init__(self, a, x, kernel):
        dims = len(kernel)
        if x.ndim != dims + 2:
            raise MXNetError(f"data of shape {x.shape} for a kernel of shape {tuple(kernel)}")
        self.kernel = tuple(kernel)
        self.strides = tuple(a.strides or (1,) * dims)
        self.dilations = tuple(a.dilations or (1,) * dims)
        pads = tuple(a.pads or (0,) * 2 * dims)
        for name, numbers, count in (
            ("kernel_shape", self.kernel, dims),
            ("strides", self.strides, dims),
            ("dilations", self.dilations, dims),
            ("pads", pads, 2 * dims),
        ):
            low = 0 if name == "pads" else 1
            if len(numbers) != count or min(numbers, default=low) < low:
                raise MXNetError(f"attribute {name}: got {numbers} for {dims} dimensions")
        if a.auto_pad in (None, "", "NOTSET"):
            self.before, self.after = pads[:dims], pads[dims:]
        elif a.auto_pad == "VALID":
            self.before = self.after = (0,) * dims
        else:
            self.before, self.after = automatic(
                a.auto_pad, x.plane, self.kernel, self.strides, self.dilations
            )

    @property
    def even(self):
        """Whether the padding is symmetric."""
        return self.before == self.after

    def spans(self):
        """Extents of the dilated windows."""
        return [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
