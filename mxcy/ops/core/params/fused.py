"""Structs of fused operators: ``kernels/params/fused.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "fused")

PROGRAM = _struct(
    "program",
    "fused elementwise steps that run tile by tile, see leaf/fused/pointwise.cc; code: "
    "instructions; dst, a, b: register indices; numbers: two per step; a repeated input has "
    "element (position / inner) % extent, other inputs have extent 0",
    steps="i32", registers="i32", code="i32[64]", dst="i32[64]", a="i32[64]", b="i32[64]",
    numbers="f64[128]", extent="i64[16]", inner="i64[16]",
)
FUSED_DENSE = _struct(
    "fused_dense",
    "dense layer with packed weights and epilogue: act(out + bias + sum), as FUSED_CONV",
    rows="i64", hidden="i64", depth="i64", bias="i32", sum="i32", act="i32", tile="i32",
    alpha="f64", beta="f64",
)
SCALE_SHIFT = _struct(
    "scale_shift",
    "x * scale + shift over (outer, blocks, inner, block), with one pair per channel, of which "
    "there are blocks x block",
    outer="i64", blocks="i64", inner="i64", block="i64", relu="i32",
)
EXCITATION = _struct(
    "excitation",
    "squeeze-and-excitation of (images, blocks, inner, block), see leaf/fused/excitation.cc; hard: "
    "whether gates are hard sigmoids; alpha and beta belong to the activation of the hidden units",
    images="i64", blocks="i64", inner="i64", block="i64", hidden="i64", act="i32", hard="i32",
    alpha="f64", beta="f64", gate_alpha="f64", gate_beta="f64",
)
