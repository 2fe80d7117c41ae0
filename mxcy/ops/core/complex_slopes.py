"""Complex gradients by the gradient rules for real numbers.

The gradient of a real number L by z = x + iy is dL/dx + i dL/dy. A holomorphic function f maps it
to ``g * conj(f'(z))``. If f is real on the real axis, this is ``g * f'(conj(z))``, the result of
the real rule on conjugated inputs and outputs. The same holds for rules of linear functions and of
products, where transposes become adjoints. Records of other functions have complex rules, which
undo the conjugation.
"""

from collections.abc import Sequence
from typing import Any

from mxcy._base.dtypes import is_complex
from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import Spec

__all__ = ["VALUES", "conjugated"]

#: value of `complexes` of records that accept complex numbers but lack complex gradients
VALUES = "values"


def conjugated(
    op: Any, a: Any, F: Any, ins: Sequence[Any], outs: Sequence[Any], specs: Sequence[Spec]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Conjugate the complex arrays saved by a call, for its gradient rule.

    Parameters
    ----------
    op : Op
    a : Attrs
    F : namespace of operators
    ins, outs : sequence of arrays or None
    specs : sequence of Spec
        Specs of the inputs.

    Raises
    ------
    MXNetError
        If the operator has no complex gradient.
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
