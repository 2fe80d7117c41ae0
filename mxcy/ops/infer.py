"""Specs: what is known of a tensor before it exists, and the helpers that inference rules use.

A shape is a tuple with -1 for an unknown extent, or None when not even the rank is known; a dtype
is a code of mxcy.dtypes or None. Inference rules read input specs, may fill in what they can deduce
about them, and return output specs; they run with everything known (eager) or partly known
(symbols).
"""

from mxcy import dtypes
from mxcy.base import MXNetError

__all__ = [
    "Spec",
    "InferError",
    "back_batch",
    "back_data",
    "back_dtype",
    "back_dtypes",
    "back_inputs",
    "back_shape",
    "require",
    "broadcast_shapes",
    "normal_axis",
    "normal_axes",
    "numbered",
    "same_dtype",
]


class InferError(MXNetError):
    """An operator's inputs do not fit together."""


class Spec:
    """Shape and dtype of one tensor, possibly partial."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape=None, dtype=None):
        self.shape, self.dtype = shape, dtype

    @property
    def known(self):
        """Whether shape and dtype are completely known."""
        return self.dtype is not None and self.shape is not None and -1 not in self.shape

    @property
    def ndim(self):
        """The rank; only when the shape is known."""
        return len(self.shape)

    @property
    def size(self):
        """The number of elements; only when the shape is completely known."""
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    @property
    def nbytes(self):
        """The number of bytes; only when shape and dtype are completely known."""
        return self.size * dtypes.DTYPES[self.dtype].itemsize

    def fill(self, name, shape=None, dtype=None):
        """Unify with what a rule deduced; contradictions are InferErrors that name the argument."""
        if shape is not None:
            shape = tuple(shape)
            if self.shape is None:
                self.shape = shape
            elif len(shape) != len(self.shape) or any(
                a != b and a != -1 and b != -1 for a, b in zip(self.shape, shape, strict=True)
            ):
                raise InferError(f"argument {name}: expected shape {shape}, got {self.shape}")
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

    def __eq__(self, other):
        return isinstance(other, Spec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __repr__(self):
        return f"Spec({self.shape}, {None if self.dtype is None else dtypes.name_of(self.dtype)})"


def require(condition, message):
    """Raise InferError(message) unless the condition holds."""
    if not condition:
        raise InferError(message)


def numbered(count, name):
    """The names of `count` outputs; `name` is that of the attribute which tells how many."""
    require(1 <= count <= 1 << 16, f"{name}: expected 1 to {1 << 16}, got {count}")
    return tuple(f"output{i}" for i in range(count))


def same_dtype(specs, names):
    """Unify the dtypes of several inputs and return the common one (None when all are unknown)."""
    known = next((s.dtype for s in specs if s.dtype is not None), None)
    if known is not None:
        for spec, name in zip(specs, names, strict=True):
            spec.fill(name, dtype=known)
    return known


def normal_axis(axis, ndim, name="axis"):
    """A possibly negative axis as 0 <= axis < ndim."""
    require(-ndim <= axis < ndim, f"{name}: axis {axis} is out of bounds for {ndim} dimensions")
    return axis + ndim if axis < 0 else axis


def normal_axes(axes, ndim, name="axis"):
    """Sorted non-negative axes without repetition."""
    found = sorted(normal_axis(axis, ndim, name) for axis in axes)
    require(len(set(found)) == len(found), f"{name}: repeated axis in {tuple(axes)}")
    return tuple(found)


def broadcast_shapes(lhs, rhs, names=("lhs", "rhs")):
    """NumPy's broadcasting of two shapes; -1 stays unknown unless the other side decides it."""
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


# --- from outputs to inputs (Op.infer_back) ------------------------------------------------------


def back_inputs(a, ins, outs):
    """All inputs have the output's shape and dtype."""
    for i, spec in enumerate(ins):
        spec.fill(f"input {i}", outs[0].shape, outs[0].dtype)


def back_data(a, ins, outs):
    """The first input has the first output's shape and dtype."""
    ins[0].fill("data", outs[0].shape, outs[0].dtype)


def back_shape(a, ins, outs):
    """The first input has the first output's shape."""
    ins[0].fill("data", outs[0].shape)


def back_batch(a, ins, outs):
    """The first extents of the first input and the first output are the same, and the dtypes."""
    data, out = ins[0], outs[0]
    data.fill("data", dtype=out.dtype)
    if data.shape and out.shape:
        data.fill("data", (out.shape[0], *data.shape[1:]))


def back_dtype(a, ins, outs):
    """The first input has the first output's dtype."""
    ins[0].fill("data", dtype=outs[0].dtype)


def back_dtypes(a, ins, outs):
    """All inputs have the first output's dtype."""
    for i, spec in enumerate(ins):
        spec.fill(f"input {i}", dtype=outs[0].dtype)
