"""Name scopes: which prefix and which parameter dictionary a new block gets."""

import threading

from mxcy import name as naming
from mxcy.gluon.parameter_dict import ParameterDict

__all__ = ["BlockScope"]

_STATE = threading.local()


class BlockScope:
    """The scope of one block: inside its ``with``, new blocks become named after it.

    Parameters
    ----------
    block : Block
        The block.
    """

    def __init__(self, block):
        self._block = block
        self._counters = {}
        self._outer = []

    @staticmethod
    def create(prefix, params, hint):
        """Choose the full prefix and the parameters of a new block.

        Parameters
        ----------
        prefix : str or None
            The prefix that the user gave.
        params : ParameterDict or None
            The parameters to share that the user gave.
        hint : str
            What kind of block it is, such as ``'dense'``.

        Returns
        -------
        tuple of str and ParameterDict
        """
        scope = getattr(_STATE, "scope", None)
        if scope is None:
            outer_prefix, shared = "", None
            if prefix is None:
                prefix = naming.current().get(None, hint) + "_"
        else:
            outer = scope._block.params
            outer_prefix, shared = outer.prefix, outer._shared
            if prefix is None:
                number = scope._counters.get(hint, 0)
                scope._counters[hint] = number + 1
                prefix = f"{hint}{number}_"
        if params is None:
            params = ParameterDict(outer_prefix + prefix, shared)
        else:
            params = ParameterDict(params.prefix, params)
        return (scope._block.prefix if scope else "") + prefix, params

    def __enter__(self):
        if self._block._empty_prefix:
            return self
        names = naming.Prefix(self._block.prefix)
        self._outer.append((getattr(_STATE, "scope", None), names))
        _STATE.scope = self
        names.__enter__()
        return self

    def __exit__(self, ptype, value, trace):
        if self._block._empty_prefix:
            return
        outer, names = self._outer.pop()
        names.__exit__(ptype, value, trace)
        _STATE.scope = outer
