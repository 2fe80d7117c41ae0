"""Native kernels of convolutions and both transposes, with the rules for choosing them."""

import math

from mxcy import env
from mxcy._base.dtypes import HALVES
from mxcy.ops.convolution.windows import resolve
from mxcy.ops.core.params import CONV
from mxcy.ops.core.record import native

__all__ = ["conv_kernels"]


def conv_kernels(suffix, roles, pads=None):
    """Return the native kernels of one of the three maps.

    Parameters
    ----------
    suffix : str
        Suffix of the map's kernel names.
    roles : callable
        ``roles(ins, outs) -> (data, weight, output)``: which arrays play these parts of a
        convolution.
    pads : callable, optional
        ``pads(a, extents of output)`` if the padding differs from the attribute.
    """
    return _Map(suffix, roles, pads).kernels()


class _Map:
    """A convolution or one of its transposes; parameters as in `conv_kernels`."""

    def __init__(self, suffix, roles, pads):
        self.suffix, self.roles, self.pads = suffix, roles, pads

    def kernels(self):
        """Return the kernels, best first."""
        plain = self.suffix or "_plain"
        return (
            self._native(f"conv_winograd{plain}", self._not_for_winograd, asks=True),
            self._native(f"conv_onednn{plain}", self._slower_by_onednn, asks=True),
            self._native(f"conv_depthwise{self.suffix}", self._not_depthwise),
            self._native(f"conv_im2col{self.suffix}"),
        )

    def _native(self, name, when=None, **options):
        about = {"params": self._params, "work": self._work, "when": when, **options}
        return native(name, struct=CONV, **about)

    def _params(self, a, ins, outs):
        data, weight, out = self.roles(ins, outs)
        kernel, stride, dilate, pad = resolve(a)
        if self.pads is not None:
            pad = self.pads(a, out.shape[2:])
        ones = (1,) * (3 - len(kernel))
        return {
            "batch": data.shape[0],
            "groups": a.num_group,
            "channels": weight.shape[1],
            "filters": weight.shape[0] // a.num_group,
            "source": ones + data.shape[2:],
            "target": ones + out.shape[2:],
            "kernel": ones + tuple(kernel),
            "stride": ones + tuple(stride),
            "dilate": ones + tuple(dilate),
            "pad": (0,) * len(ones) + tuple(pad),
        }

    def _work(self, a, ins, outs):
        # A vector of multiply-adds costs one elementwise step.
        _, weight, out = self.roles(ins, outs)
        positions = math.prod(out.shape[2:]) * out.shape[0]
        return positions * weight.size // 16 + max(spec.size for spec in (*ins, *outs))

    def _not_depthwise(self, a, ins, outs):
        _, weight, _ = self.roles(ins, outs)
        depthwise = weight.shape[1] == 1 and weight.shape[0] <= 4 * a.num_group
        return None if depthwise else "a group has several channels or many filters"

    def _slower_by_onednn(self, a, ins, outs):
        # Cases in which reordering to and from oneDNN's layouts outweighs its gain, as measured.
        data, weight, _ = self.roles(ins, outs)
        if self.suffix == "_weight" and env.get("MXNET_ENFORCE_DETERMINISM"):
            return "its sums depend on the number of threads"
        if ins[0].dtype in HALVES:
            return None
        if math.prod(weight.shape[2:]) == 1:
            return "a pointwise convolution is a plain product"
        if weight.shape[1] == 1 and a.kernel in ((3, 3), (5, 5)):
            return "a depthwise convolution is one pass over memory"
        if self.suffix == "_data" and data.shape[1] < 8:
            return "too few channels for oneDNN's layouts"
        if self.suffix == "_weight" and weight.size > 2 * data.size:
            return "more weights than data"
        return None

    def _not_for_winograd(self, a, ins, outs):
        data, weight, out = self.roles(ins, outs)
        if not env.get("MXNET_CUDNN_ALLOW_WINOGRAD"):
            return "MXNET_CUDNN_ALLOW_WINOGRAD=0"
        if max(weight.shape[2:]) > 3:
            # It would lose one digit more than the original, which accumulates in training.
            return "the kernel is longer than 3"
        if min(weight.shape[:2]) < 16:
            return "too few channels to fill vectors"
        # Transforming the weights pays off if many windows use them, as measured; the sums of
        # their gradients are transformed back only once.
        least = 64 if self.suffix == "_weight" else 256
        if data.shape[0] * math.prod(out.shape[2:]) < least:
            return "too few windows"
        return None
