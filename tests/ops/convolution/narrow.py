"""Problems of convolutions whose arrays are of bfloat16, for the kernels that take them."""

import numpy as np

import mxcy as mx
from mxcy._base.dtypes import CODES
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.infer import Spec
from tests.ops.fused.fused_conv import Problem, from_blocked
from tests.ops.kernel_call import run_kernel

__all__ = ["Narrow", "bits", "numbers"]


def bits(array):
    """The bits of float32 numbers, rounded to bfloat16."""
    return mx.nd.array(array).astype("bfloat16").asnumpy().view(np.uint16)


def numbers(array):
    """What such bits stand for."""
    return (array.astype(np.uint32) << 16).view(np.float32)


class Narrow(Problem):
    """A problem whose data, other summand and result are of bfloat16, for the kernel `name`."""

    def __init__(self, name, *arguments, **attributes):
        super().__init__(*arguments, **attributes)
        self.name = name
        self.data = numbers(bits(self.data))
        if self.other is not None:
            self.other = numbers(bits(self.other))

    def arrays(self):
        data, bias, other, out = super().arrays()
        return bits(data), bias, None if other is None else bits(other), bits(out)

    def plain(self, out):
        """A result as (images, channels, spatial...)."""
        return from_blocked(out)

    def ask(self, kernel, what):
        ins, out = self._inputs(np.zeros(0, np.uint8)), self.arrays()[-1]
        codes = {np.dtype(np.uint16): "bfloat16"}
        specs = [
            [Spec(x.shape, CODES[codes.get(x.dtype, x.dtype.name)]) for x in side]
            for side in (ins, [out])
        ]
        return front.query(kernel, self.params, *specs, what)

    def run(self, threads=1, in_place=False):
        reason = self.ask(self.name, "accepts")
        if reason is not None:
            raise MXNetError(reason)
        blob = np.empty(self.ask(self.name, "packed"), np.uint8)
        run_kernel(f"{self.name}_pack", [self.weight], [blob], self.params, threads=threads)
        ins, out = self._inputs(blob), self.arrays()[-1]
        if in_place:
            out = ins[-1]
        workspace = self.ask(self.name, "workspace")
        run_kernel(
            self.name,
            ins,
            [out],
            self.params,
            threads=threads,
            workspace=workspace,
            half="bfloat16",
        )
        return numbers(self.plain(out))
