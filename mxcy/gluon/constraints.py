"""Scopes in which `HybridBlock.forward` says what optimizations have to leave alone."""

import contextlib
import enum

from mxcy import _deferred_compute as deferred
from mxcy._library import front
from mxcy.attribute import AttrScope, current
from mxcy.ndarray.mixed_precision import exempt
from mxcy.ops.core.precision import CONSTRAINT

__all__ = ["OptConstraint"]


class OptConstraint:
    """A scope whose operations `mx.amp` leaves in float32, in eager calls and in graphs.

    In graphs they get attribute ``__opt_constraint__`` there, the number of the flags.

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
        scopes = contextlib.ExitStack()
        if self.Flag.DisableAMP in self._flag:
            scopes.enter_context(exempt())
        number = deferred.constrain(self._flag.value)
        if number:
            scopes.callback(front.set_deferred, number)
        else:  # blocks of MXNet 1.x compute with symbols
            outer = int(current()._attr.get(CONSTRAINT, "0"))
            scopes.enter_context(AttrScope(**{CONSTRAINT: str(self._flag.value | outer)}))
        self._scopes.append(scopes)
        return self

    def __exit__(self, *error):
        self._scopes.pop().__exit__(*error)

    @classmethod
    def disable_all(cls):
        """A scope with all flags."""
        return cls(~cls.Flag(0))

    @classmethod
    def disable_amp(cls):
        """A scope whose operations stay in float32 under mixed precision."""
        return cls(cls.Flag.DisableAMP)
