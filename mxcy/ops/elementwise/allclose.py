"""Approximate equality of two arrays."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Float
from mxcy.ops.core.infer import Spec, same_dtype
from mxcy.ops.core.record import op, sample

__all__ = []


@op("_contrib_allclose", inputs="a b")
class AllClose:
    """Test whether ``abs(a - b) <= atol + rtol * abs(b)`` for all elements: 1 if so, else 0.

    With `equal_nan`, NaNs are equal to each other. The result has shape () and dtype uint8.
    """

    rtol: Float = 1e-5
    atol: Float = 1e-8
    equal_nan: Bool = True

    samples = (sample((3, 4), (3, 4), grad=False), sample((3, 4), (3, 4), rtol=4.0, grad=False))

    def infer(attrs, a, b):
        same_dtype((a, b), ("a", "b"))
        a.fill("a", b.shape)
        b.fill("b", a.shape)
        return Spec((), dtypes.code_of("uint8"))

    def ref(attrs, xp, a, b):
        close = xp.allclose(a, b, attrs.rtol, attrs.atol, equal_nan=attrs.equal_nan)
        return xp.asarray(close, "uint8")
