"""Structs of launches on CUDA devices, see cuda/launch.cc: ``kernels/params/launch.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

__all__ = ["LAUNCH"]

_struct = partial(Params, "launch")

LAUNCH = _struct(
    "launch",
    "up to 4 launches on a device, one after the other; each has a function, perhaps another one "
    "for addresses that are multiples of 16, and `arguments` out of the lists, from `first` on: "
    "`kind` as in launch.cc, `index` an operand's number or a whole number or a place in `value`; "
    "`mutated`: bits of the inputs that are written, the last bit for all from 63 on",
    device="i32", count="i32", mutated="i64", function="i64[4]", wide="i64[4]", grid="i64[12]",
    block="i32[4]", shared="i32[4]", first="i32[4]", arguments="i32[4]", kind="i32[64]",
    index="i64[64]", value="f64[200]",
)  # fmt: skip
