"""Casts between dtypes."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DType, Field, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_shape, numbered, require
from mxcy.ops.core.record import native, op, register, sample

__all__ = ["cast_back", "cast_to", "caster"]

_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")
_BEYOND = ("int16", "uint16", "uint32", "uint64")
_NAMES = ("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8")


def caster(code, source=0):
    """Return the name of the cast operator for two dtypes: MXNet's if it supports both.

    Parameters
    ----------
    code, source : int
        Dtypes of the result and of the input.

    Returns
    -------
    str
    """
    known = dtypes.name_of(code) in ("bool", *_NAMES) and not dtypes.is_complex(source)
    return "Cast" if known else "_mx_astype"


def cast_to(F, array, code, source):
    """Cast an array from dtype `source` to `code`, for gradient rules."""
    if code == source:
        return array
    return getattr(F, caster(code, source))(array, dtype=dtypes.name_of(code))


def cast_back(F, gradient, code, source):
    """Cast a gradient of dtype `source` to an input's dtype `code`; None for integer inputs.

    A real input that was promoted to complex gets the real part.
    """
    if gradient is None or not (dtypes.is_inexact(code) or code == source):
        return None
    if dtypes.is_complex(source) and not dtypes.is_complex(code):
        gradient, source = F._mx_real(gradient), dtypes.real_of(source)
    return cast_to(F, gradient, code, source)


def _infer(a, data):
    return Spec(data.shape, dtypes.code_of(a.dtype))


def _infer_amp(a, data):
    """Infer a mixed precision cast; dtypes other than these are kept."""
    return Spec(data.shape, dtypes.code_of(a.dtype) if data.dtype in _MIXED else data.dtype)


def _amp_ref(a, xp, data):
    mixed = data.dtype.name in ("float16", "float32")
    return _ref(a, xp, data) if mixed else xp.array(data)


def _grad(a, F, g, specs):
    return F.Cast(g, dtype=dtypes.name_of(specs[0].dtype))


def _ref(a, xp, data):
    # bfloat16 is float32 here; storing rounds it.
    return data.astype("float32" if a.dtype == "bfloat16" else a.dtype)


_MIXED = tuple(map(dtypes.code_of, ("float32", "float16", "bfloat16")))

for _name, _aliases, _targets, _rule, _define, _doc in (
    (
        "Cast",
        ("cast", "_npi_cast", "_npx_cast"),
        (_NAMES[0], "bool", *_NAMES[1:]),
        _infer,
        _ref,
        "Cast to another dtype; floats are truncated to integers towards zero.",
    ),
    (
        "amp_cast",
        (),
        _NAMES,
        _infer_amp,
        _amp_ref,
        "Cast between float32, float16 and bfloat16; arrays of other dtypes are unchanged.",
    ),
):
    register(
        _name,
        aliases=_aliases,
        fields=(Field("dtype", DType(*_targets, beyond=_BEYOND if _name == "Cast" else ())),),
        infer=_rule,
        amp="either/either" if _name == "amp_cast" else None,
        infer_back=back_shape,
        in_symbols=InSymbols(precision_cast=_name == "amp_cast"),
        grad=_grad,
        ref=_define,
        kernels=(native("cast", mixed=True),),
        domain=(-100, 100),
        dtypes=_ALL,
        samples=(
            sample((3, 4), dtype="float32", grad=False),
            sample((3, 4), dtype="float16", grad=False, tol=100),
            sample((3, 4), dtype="int32", grad=False, dtypes=("int32", "int8")),
        ),
        doc=_doc,
    )


@op(
    "amp_multicast",
    inputs="",
    variadic="data",
    num_args="num_outputs",
    in_symbols=InSymbols(names=lambda a, n: [f"data_{i}" for i in range(n)], precision_cast=True),
    amp="either/either",
)
class AmpMulticast:
    """Cast arrays of float32, float16 and bfloat16 to a common dtype.

    That is float32 if any of them is, otherwise the dtype of the first; with `cast_narrow` it is
    float16 if any of them is. Arrays of other dtypes are unchanged.
    """

    num_outputs: Int
    cast_narrow: Bool = False

    samples = (
        sample((3, 4), (2,), num_outputs=2),
        sample((3, 4), (2,), num_outputs=2, cast_narrow=True),
    )

    def outputs(a):
        return numbered(a.num_outputs, "num_outputs")

    def infer(a, ins):
        require(
            len(ins) == a.num_outputs,
            f"num_outputs: got {len(ins)} arrays for {a.num_outputs} outputs",
        )
        mixed = [spec.dtype for spec in ins if spec.dtype in _MIXED]
        wanted = dtypes.code_of("float16" if a.cast_narrow else "float32")
        target = wanted if wanted in mixed else next(iter(mixed), None)
        return [Spec(s.shape, target if s.dtype in _MIXED else s.dtype) for s in ins]

    def infer_back(a, ins, outs):
        for number, (spec, out) in enumerate(zip(ins, outs, strict=True)):
            spec.fill(f"data_{number}", out.shape)

    def grad(a, F, g, specs):
        return [
            F.Cast(gradient, dtype=dtypes.name_of(spec.dtype))
            for gradient, spec in zip(g if len(specs) > 1 else [g], specs, strict=True)
        ]

    def ref(a, xp, arrays):
        codes = [dtypes.code_of(array.dtype) for array in arrays]
        specs = AmpMulticast.infer(a, [Spec(None, code) for code in codes])
        return [
            array.astype(dtypes.dtype_of(spec.dtype))
            for array, spec in zip(arrays, specs, strict=True)
        ]
