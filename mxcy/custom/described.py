"""Descriptions of custom operators from their properties: names, shapes, dtypes, dependencies."""

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import InferError, Spec

__all__ = ["NAME", "PROPERTIES", "STATE", "Described", "asked", "property_error"]

NAME = "Custom"
#: op_type -> the class that describes the operator
PROPERTIES: dict = {}
#: hidden output by which the backward pass finds the object of the forward pass
STATE = "state"
_INT64 = dtypes.CODES["int64"]


def property_error(op_type, method, error):
    """Make the MXNetError for an exception in users' code."""
    kind = "" if isinstance(error, MXNetError) else f"{type(error).__name__}: "
    return MXNetError(f"Error in operator {NAME} ({op_type}): {method}: {kind}{error}")


def asked(op_type, method, function, *args, **kwargs):
    """Call users' code, converting exceptions to MXNetError."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise property_error(op_type, method, error) from error


def _names(op_type, method, function):
    names = asked(op_type, method, function)
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise MXNetError(
            f"operator {NAME} ({op_type}): {method} must return a list of names, got {names!r}"
        )
    return tuple(names)


class Described:
    """A description of a custom operator from its property object.

    Attributes
    ----------
    op_type : str
    given : dict of str to str
        Arguments of the property class.
    prop : CustomOpProp
    arguments, outputs, states : tuple of str
        Names of the inputs, outputs and auxiliary states.
    needed : frozenset of int
        Arrays that backward reads, numbered over output gradients, inputs, outputs.
    """

    def __init__(self, op_type, given, prop):
        self.op_type, self.given, self.prop = op_type, given, prop
        self.arguments = _names(op_type, "list_arguments", prop.list_arguments)
        self.outputs = _names(op_type, "list_outputs", prop.list_outputs)
        self.states = _names(op_type, "list_auxiliary_states", prop.list_auxiliary_states)
        if not self.outputs:
            raise MXNetError(f"operator {NAME} ({op_type}): list_outputs returned no names")
        self._needed = None

    @property
    def needed(self):
        """The arrays that backward reads, numbered over gradients, inputs, outputs."""
        if self._needed is None:
            outs, ins = len(self.outputs), len(self.arguments)
            numbers = list(range(2 * outs + ins))
            needed_places = asked(
                self.op_type,
                "declare_backward_dependency",
                self.prop.declare_backward_dependency,
                numbers[:outs],
                numbers[outs : outs + ins],
                numbers[outs + ins :],
            )
            self._needed = frozenset(needed_places)
        return self._needed

    def no_reference(self, a, xp, *arrays):
        """Raise an error: there is no reference but the users' code."""
        raise MXNetError(f"operator {NAME} ({self.op_type}) runs on arrays only")

    # --- shapes and types ---
    def infer(self, a, *ins):
        """Infer shapes and dtypes by `infer_shape` and `infer_type`."""
        count = len(self.arguments)
        shapes = [[max(n, 0) for n in spec.shape or ()] for spec in ins[:count]]
        complete = all(spec.shape is not None and -1 not in spec.shape for spec in ins[:count])
        shapes = self._inferred("infer_shape", shapes, complete)
        kinds = [None if s.dtype is None else dtypes.dtype_of(s.dtype).type for s in ins[:count]]
        kinds = self._inferred("infer_type", kinds, None not in kinds)
        outs = [Spec() for _ in self.outputs]
        names = (*self.arguments, *self.outputs, *self.states)
        for name, spec, shape, kind in zip(
            names, (*ins[:count], *outs, *ins[count:]), shapes, kinds, strict=True
        ):
            if shape is not None:
                spec.fill(name, shape if complete else tuple(n or -1 for n in shape))
            if kind is not None:
                spec.fill(name, dtype=dtypes.code_of(np.dtype(kind)))
        return [*outs, Spec((1,), _INT64)]

    def _inferred(self, method, known, complete):
        """Call `infer_shape` or `infer_type` for inputs, outputs and states; None if it fails.

        Failing on incomplete inputs only means that the result is not known yet.
        """
        counts = [len(self.arguments), len(self.outputs), len(self.states)]
        nothing = [None] * sum(counts)
        try:
            answer = getattr(self.prop, method)(known)
        except Exception as error:
            if complete:
                kind = type(error).__name__
                raise InferError(f"({self.op_type}) {method}: {kind}: {error}") from error
            return nothing
        if not isinstance(answer, (list, tuple)) or len(answer) not in (2, 3):
            raise InferError(f"({self.op_type}) {method} must return 2 or 3 lists")
        lists = [list(part) for part in answer] + [[]] * (3 - len(answer))
        for what, part, count in zip(("input", "output", "state"), lists, counts, strict=True):
            if len(part) != count:
                raise InferError(
                    f"({self.op_type}) {method} returned {len(part)} {what}s, expected {count}"
                )
        flat = [item for part in lists for item in part]
        if method == "infer_type":
            return flat
        shapes = [None if shape is None else tuple(int(n) for n in shape) for shape in flat]
        return shapes if complete else [shape or None for shape in shapes]
