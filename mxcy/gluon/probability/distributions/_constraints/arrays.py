"""Constraints on vectors and matrices, and combinations of constraints."""

import numpy as onp

from mxcy import numpy as np
from mxcy.gluon.probability.distributions._constraints.base import Constraint
from mxcy.gluon.probability.functions import as_parameter
from mxcy.numpy._calls.operands import is_array

__all__ = ["Cat", "LowerCholesky", "LowerTriangular", "PositiveDefinite", "Simplex", "Stack"]


class Simplex(Constraint):
    """Non-negative vectors that sum to 1."""

    def __str__(self):
        return "numbers >= 0 that sum up to 1 along the last axis"

    def holds(self, value):
        rounding = max(1e-5, 16 * float(onp.finfo(value.dtype).eps))
        close = np.abs(np.sum(value, axis=-1) - 1) <= rounding
        return np.all(value >= 0, axis=-1) & close


class _Matrices(Constraint):
    """Base of constraints on square matrices."""

    def check_named(self, value, name):
        value = as_parameter(value, name)
        if not is_array(value) or value.ndim < 2 or value.shape[-1] != value.shape[-2]:
            shape = f"the shape {value.shape}" if is_array(value) else value
            raise ValueError(f"Constraint violated: {name} should be {self}, got {shape}")
        return super().check_named(value, name)


class LowerTriangular(_Matrices):
    """Square matrices with zeros above the diagonal."""

    def __str__(self):
        return "square lower triangular matrices"

    def holds(self, value):
        return np.all(np.tril(value) == value, axis=(-2, -1))


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices with positive diagonals."""

    def __str__(self):
        return f"{super().__str__()} with positive diagonals"

    def holds(self, value):
        diagonal = np.diagonal(value, axis1=-2, axis2=-1)
        return super().holds(value) & np.all(diagonal > 0, axis=-1)


class PositiveDefinite(_Matrices):
    """Symmetric matrices with positive eigenvalues."""

    def __str__(self):
        return "symmetric positive definite matrices"

    def holds(self, value):
        mirrored = np.swapaxes(value, -1, -2)
        symmetric = np.abs(value - mirrored) <= 1e-6 + 1e-5 * np.abs(value)
        positive = np.linalg.eigvalsh(value) > 0
        return np.all(symmetric, axis=(-2, -1)) & np.all(positive, axis=-1)


class Cat(Constraint):
    """Separate constraints for consecutive parts of an array along an axis.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
    lengths : list of int, optional
        Extents of the parts; 1 each by default.
    """

    def __init__(self, constraint_seq, axis=0, lengths=None):
        if not all(isinstance(constraint, Constraint) for constraint in constraint_seq):
            raise TypeError(f"expected a list of constraints, got {constraint_seq}")
        lengths = [1] * len(constraint_seq) if lengths is None else list(lengths)
        if len(lengths) != len(constraint_seq):
            raise ValueError(f"got {len(constraint_seq)} constraints and {len(lengths)} lengths")
        self._constraint_seq, self._axis, self._lengths = list(constraint_seq), axis, lengths

    def check_named(self, value, name):
        parts = np.split(value, list(onp.cumsum(self._lengths)), axis=self._axis)
        checked = [
            constraint.check_named(part, name)
            for constraint, part in zip(self._constraint_seq, parts, strict=False)
        ]
        return np.concatenate([*checked, *parts[len(checked) :]], axis=self._axis)


class Stack(Constraint):
    """Separate constraints for the slices of an array along an axis.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
    """

    def __init__(self, constraint_seq, axis=0):
        if not all(isinstance(constraint, Constraint) for constraint in constraint_seq):
            raise TypeError(f"expected a list of constraints, got {constraint_seq}")
        self._constraint_seq, self._axis = list(constraint_seq), axis

    def check_named(self, value, name):
        count = value.shape[self._axis]
        if count != len(self._constraint_seq):
            raise ValueError(
                f"Constraint violated: {name} should have {len(self._constraint_seq)} slices "
                f"along axis {self._axis}, got {count}"
            )
        parts = np.split(value, count, axis=self._axis)
        checked = [
            constraint.check_named(np.squeeze(part, axis=self._axis), name)
            for constraint, part in zip(self._constraint_seq, parts, strict=True)
        ]
        return np.stack(checked, axis=self._axis)
