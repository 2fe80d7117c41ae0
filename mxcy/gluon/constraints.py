"""Scopes in which `HybridBlock.forward` says what optimizations have to leave alone."""

import enum

from mxcy import _deferred_compute as deferred
from mxcy._library import front
from mxcy.attribute import AttrScope, current
from mxcy.ops.core.precision import CONSTRAINT

__all__ = ["OptConstraint"]


class OptConstraint:
    """A scope whose operations `mx.amp` leaves in float32 when it converts their graph.

    They get attribute ``__opt_constraint__`` there, the number of the flags.

    Parameters
    ----------
    flag : OptConstraint.Flag
    """

    class Flag(enum.Flag):
        """What is switched off."""

        DisableAMP = enum.auto()

    def __init__(self, flag):
        self._flag, self._scopes = flag, []

    def __enter__(self):
        number = deferred.constrain(self._flag.value)
        scope = None
        if not number:  # blocks of MXNet 1.x compute with symbols
            outer = int(current()._attr.get(CONSTRAINT, "0"))
            scope = AttrScope(**{CONSTRAINT: str(self._flag.value | outer)})
            scope.__enter__()
        self._scopes.append((scope, number))
        return self

    def __exit__(self, *error):
        scope, number = self._scopes.pop()
        if scope is None:
            front.set_deferred(number)
        else:
            scope.__exit__(*error)

    @classmethod
    def disable_all(cls):
        """A scope with all flags."""
        return cls(~cls.Flag(0))

    @classmethod
    def disable_amp(cls):
        """A scope whose operations stay in float32 under mixed precision."""
        return cls(cls.Flag.DisableAMP)
