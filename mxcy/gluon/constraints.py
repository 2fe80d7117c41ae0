"""Scopes that exempt parts of `HybridBlock.forward` from optimizations."""

import contextlib
import enum

from mxcy import _deferred_compute as deferred
from mxcy._library import front
from mxcy.attribute import AttrScope, current
from mxcy.ndarray.mixed_precision import exempt
from mxcy.ops.core.precision import CONSTRAINT

__all__ = ["OptConstraint"]


class OptConstraint:
    """Scope whose operations `mx.amp` keeps in float32, eagerly and in graphs.

    Graph nodes inside it get the attribute ``__opt_constraint__``, the integer value of the flags.

    Parameters
    ----------
    flag : OptConstraint.Flag
    """

    class Flag(enum.Flag):
        """Optimizations that can be disabled."""

        DisableAMP = enum.auto()

    def __init__(self, flag):
        self._flag, self._scopes = flag, []

    def __enter__(self):
        scopes = contextlib.ExitStack()
        if self.Flag.DisableAMP in self._flag:
            scopes.enter_context(exempt())
        number = deferred.constrain(self._flag.value)
        if number:
            scopes.callback(front.set_deferred, number)
        else:  # MXNet 1.x blocks are traced with symbols
            outer = int(current()._attr.get(CONSTRAINT, "0"))
            scopes.enter_context(AttrScope(**{CONSTRAINT: str(self._flag.value | outer)}))
        self._scopes.append(scopes)
        return self

    def __exit__(self, *error):
        self._scopes.pop().__exit__(*error)

    @classmethod
    def disable_all(cls):
        """Return a scope that disables every optimization."""
        return cls(~cls.Flag(0))

    @classmethod
    def disable_amp(cls):
        """Return a scope whose operations stay in float32 under mixed precision."""
        return cls(cls.Flag.DisableAMP)
