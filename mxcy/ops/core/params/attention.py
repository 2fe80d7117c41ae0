"""Structs of attention: ``kernels/params/attention.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "attention")

WINDOW = _struct(
    "window",
    "sequences whose steps see `w` steps before them, themselves, and more behind: `places` in all",
    batch="i64", steps="i64", heads="i64", depth="i64", w="i64", places="i64",
)
