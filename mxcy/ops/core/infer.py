"""Specs, the static description of tensors, and helpers for inference rules.

A shape is a tuple with -1 for unknown dimensions, or None if not even the rank is known; a dtype is
a code of mxcy._base.dtypes or None. Inference rules read input specs, may complete them, and return
output specs. They run on complete (eager) or partial (symbols) specs.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mxcy._base import dtypes
from mxcy._base.axis_error import InvalidAxisError
from mxcy._base.errors import InferError, InvalidValueError, ShapeError

__all__ = [
    "MOST_STEP",
    "Spec",
    "InferError",
    "UnforeseenError",
    "back_batch",
    "back_data",
    "back_dtype",
    "back_dtypes",
    "back_inputs",
    "back_shape",
    "require",
    "broadcast_shapes",
    "infer_gradients",
    "like_inputs",
    "most",
    "refuse_complex",
    "require_plane",
    "require_value",
    "whole_shape",
    "normal_axis",
    "normal_axes",
    "numbered",
    "same_dtype",
    "same_specs",
]

Shape: TypeAlias = tuple[int, ...]


class UnforeseenError(InferError):
    """An inference rule crashed on inputs or attributes that it should have rejected.

    The message names operator and inputs; tests treat it as a bug in the record.
    """

    def __init__(self, name: str, ins: Any, error: BaseException) -> None:
        inputs = ", ".join(map(repr, ins))
        super().__init__(
            f"Error in operator {name}: it cannot work with inputs ({inputs}) and these attributes "
            f"({type(error).__name__}: {error})"
        )


class Spec:
    """Shape and dtype of a tensor, possibly partial."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Shape | None = None, dtype: int | None = None) -> None:
        # Typed as known: rules ensure that themselves.
        self.shape: Any = shape
        self.dtype: Any = dtype

    @property
    def known(self) -> bool:
        """Whether shape and dtype are complete."""
        return self.dtype is not None and self.shape is not None and -1 not in self.shape

    @property
    def ndim(self) -> int:
        """The rank; requires a known rank."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements; requires a complete shape."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self) -> int:
        """The number of bytes; requires a complete spec."""
        return self.size * dtypes.DTYPES[self.dtype].itemsize

    def fill(self, name: str, shape: Shape | None = None, dtype: int | None = None) -> "Spec":
        """Unify with inferred values; contradictions raise an InferError naming the argument."""
        if shape is not None:
            shape = tuple(shape)
            if self.shape is None:
                self.shape = shape
            elif len(shape) != len(self.shape) or any(
                a != b and a != -1 and b != -1 for a, b in zip(self.shape, shape, strict=True)
            ):
                raise ShapeError(f"argument {name}: expected shape {shape}, got {self.shape}")
            else:
                self.shape = tuple(
                    b if a == -1 else a for a, b in zip(self.shape, shape, strict=True)
                )
        if dtype is not None:
            if self.dtype is None:
                self.dtype = dtype
            elif self.dtype != dtype:
                raise InferError(
                    f"argument {name}: expected dtype {dtypes.name_of(dtype)}, got "
                    f"{dtypes.name_of(self.dtype)}"
                )
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __str__(self) -> str:
        dtype = "any dtype" if self.dtype is None else dtypes.name_of(self.dtype)
        return f"{dtype} of {'any shape' if self.shape is None else f'shape {self.shape}'}"

    def __repr__(self) -> str:
        return f"Spec({self.shape}, {None if self.dtype is None else dtypes.name_of(self.dtype)})"


def require(condition: object, message: str) -> None:
    """Raise InferError(message) unless the condition holds."""
    if not condition:
        raise InferError(message)


def require_value(condition: object, message: str) -> None:
    """Raise InvalidValueError(message), a ValueError as in NumPy, unless the condition holds."""
    if not condition:
        raise InvalidValueError(message)


def refuse_complex(op: Any, specs: Sequence[Spec]) -> None:
    """Reject complex inputs, unless the record declares support."""
    if op.complexes:
        return
    for spec in specs:
        if spec.dtype is not None and dtypes.is_complex(spec.dtype):
            raise InferError(f"arrays of {dtypes.name_of(spec.dtype)} are not supported")


def numbered(count: int, name: str, output: str = "output") -> tuple[str, ...]:
    """The names of `count` outputs; `name` is the attribute that specifies the count."""
    require(1 <= count <= 1 << 16, f"{name}: expected 1 to {1 << 16}, got {count}")
    return tuple(f"{output}{i}" for i in range(count))


def same_dtype(specs: Sequence[Spec], names: Sequence[str]) -> int | None:
    """Unify the dtypes of several inputs and return the common one (None if all are unknown)."""
    known = next((s.dtype for s in specs if s.dtype is not None), None)
    if known is not None:
        for spec, name in zip(specs, names, strict=True):
            spec.fill(name, dtype=known)
    return known


def same_specs(specs: Sequence[Spec], names: Sequence[str]) -> Spec:
    """Unify the specs of several inputs and return the common one."""
    common = Spec()
    for _ in range(2):  # so that information from the last reaches the first
        for spec, name in zip(specs, names, strict=True):
            common.fill(name, spec.shape, spec.dtype)
            spec.fill(name, common.shape, common.dtype)
    return common


def normal_axis(axis: int, ndim: int, name: str = "axis") -> int:
    """Normalise an axis to 0 <= axis < ndim."""
    if not -ndim <= axis < ndim:
        raise InvalidAxisError(f"{name}: axis {axis} is out of bounds for {ndim} dimensions")
    return axis + ndim if axis < 0 else axis


def normal_axes(axes: Sequence[int], ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Normalise axes: sorted, non-negative and unique."""
    normal = sorted(normal_axis(axis, ndim, name) for axis in axes)
    require(len(set(normal)) == len(normal), f"{name}: repeated axis in {tuple(axes)}")
    return tuple(normal)


def broadcast_shapes(
    lhs: Shape | None, rhs: Shape | None, names: tuple[str, str] = ("lhs", "rhs")
) -> Shape | None:
    """Broadcast two shapes as NumPy does; -1 remains unknown unless the other side decides it."""
    if lhs is None or rhs is None:
        return None
    n = max(len(lhs), len(rhs))
    out = []
    for a, b in zip((1,) * (n - len(lhs)) + lhs, (1,) * (n - len(rhs)) + rhs, strict=True):
        if a == b or b == 1:
            out.append(a)
        elif a == 1:
            out.append(b)
        elif -1 in (a, b):
            out.append(max(a, b))
        else:
            raise InferError(f"{names[0]} {lhs} and {names[1]} {rhs} cannot be broadcast together")
    return tuple(out)


#: maximum stride, dilation or padding, so that products with dimensions fit 64 bits
MOST_STEP = 2**31 - 1


def most(value: int, limit: int, name: str) -> None:
    """Reject an absurdly large value that determines memory or time."""
    require(value <= limit, f"{name}: expected at most {limit}, got {value}")


def whole_shape(shape: Shape | None, name: str = "shape") -> Shape:
    """Check that a shape attribute is complete."""
    if shape is None or min(shape, default=0) < 0:
        raise InferError(f"{name}: expected a complete shape, got {shape}")
    return shape


def require_plane(spec: Spec, name: str = "data") -> None:
    """Check that planes have pixels, and few enough for 32-bit indices."""
    if spec.shape is None or -1 in spec.shape[2:]:
        return
    pixels = Spec(spec.shape[2:]).size
    require(pixels > 0, f"{name}: expected images with pixels, got shape {spec.shape}")
    require(pixels < 1 << 31, f"{name}: expected less than 2 ** 31 pixels, got {spec.shape}")


def like_inputs(*specs: Spec) -> tuple[Spec, ...]:
    """The Specs of gradients: those of the inputs."""
    return tuple(Spec(spec.shape, spec.dtype) for spec in specs)


def infer_gradients(
    infer: Callable[..., Any], a: Any, grad: Spec, *ins: Spec, name: str = "grads"
) -> tuple[Spec, ...]:
    """Infer the gradients of all inputs of an operator, checking the output gradient `grad`.

    Parameters
    ----------
    infer : callable
        The operator's inference rule, which checks `ins` and determines the Spec of `grad`.
    a : Attrs
    grad : Spec
        Spec of the first output's gradient.
    *ins : Spec
    name : str
        Name of `grad` in messages.
    """
    outs = infer(a, *ins)
    out = outs if isinstance(outs, Spec) else outs[0]
    grad.fill(name, out.shape, out.dtype)
    return like_inputs(*ins)


# --- from outputs to inputs (Op.infer_back) ------------------------------------------------------


def back_inputs(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Set the shape and dtype of all inputs to the output's."""
    for i, spec in enumerate(ins):
        spec.fill(f"input {i}", outs[0].shape, outs[0].dtype)


def back_data(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Set the shape and dtype of the first input to the first output's."""
    ins[0].fill("data", outs[0].shape, outs[0].dtype)


def back_shape(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Set the shape of the first input to the first output's."""
    ins[0].fill("data", outs[0].shape)


def back_batch(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Unify first dimension and dtype of the first input and the first output."""
    data, out = ins[0], outs[0]
    data.fill("data", dtype=out.dtype)
    if data.shape and out.shape:
        data.fill("data", (out.shape[0], *data.shape[1:]))


def back_dtype(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Set the dtype of the first input to the first output's."""
    ins[0].fill("data", dtype=outs[0].dtype)


def back_dtypes(a: Any, ins: Sequence[Spec], outs: Sequence[Spec]) -> None:
    """Set the dtypes of all inputs to the first output's."""
    for i, spec in enumerate(ins):
        spec.fill(f"input {i}", dtype=outs[0].dtype)
