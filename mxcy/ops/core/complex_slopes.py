"""Gradients of functions of complex numbers, by the rules that records have for real ones.

The gradient of a real number L by z = x + iy is dL/dx + i dL/dy. Through a holomorphic function f
it goes as ``g * conj(f'(z))``. Where f is real on the real axis that is ``g * f'(conj(z))``, which
is what the rule for real numbers computes of conjugated inputs and outputs; and so do the rules of
linear functions, and of products, transposes being adjoints then. Records of other functions have
rules that know of complex numbers: they conjugate back.
"""

from collections.abc import Sequence
from typing import Any

from mxcy._base.dtypes import is_complex
from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import Spec

__all__ = ["VALUES", "conjugated"]

#: what records say in `complexes` that take complex numbers but have no gradient for them
VALUES = "values"


def conjugated(
    op: Any, a: Any, F: Any, ins: Sequence[Any], outs: Sequence[Any], specs: Sequence[Spec]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """What a call saved, as its gradient rule wants it: complex arrays conjugated.

    Parameters
    ----------
    op : Op
    a : Attrs
    F : namespace of operators
    ins, outs : sequence of arrays or None
    specs : sequence of Spec
        Those of the inputs.

    Raises
    ------
    MXNetError
        When the operator has no gradient for complex numbers.
    """
    if not any(spec.dtype is not None and is_complex(spec.dtype) for spec in specs):
        return ins, outs
    if op.complexes == VALUES:
        raise MXNetError(
            f"Error in operator {op.name}: gradients of complex numbers are not supported"
        )

    def conjugates(arrays: Sequence[Any], their_specs: Sequence[Spec]) -> list[Any]:
        return [
            array if array is None or not is_complex(spec.dtype) else F._mx_conj(array)
            for array, spec in zip(arrays, their_specs, strict=False)
        ]

    results = op.infer(a, [Spec(spec.shape, spec.dtype) for spec in specs])
    return conjugates(ins, specs), conjugates(outs, results)
