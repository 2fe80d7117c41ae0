"""Name scopes, which determine the prefix and the parameter dictionary of new blocks."""

import weakref

from mxcy import name as naming
from mxcy._base.per_thread import PerThread
from mxcy.gluon.parameter_dict import ParameterDict

__all__ = ["BlockScope"]

#: scopes by id(block); stored here because a reference from the block would be a cycle
_living: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class BlockScope:
    """Name scope of a block: inside its ``with``, names of new blocks get the block's prefix.

    Parameters
    ----------
    block : Block
        The block.
    """

    def __init__(self, block):
        self._block = block
        self._counter = block._name_counter

    @classmethod
    def of(cls, block):
        """Return the scope of a block: the same object while references to it exist."""
        scope = _living.get(id(block))
        if scope is None:
            scope = _living[id(block)] = cls(block)
        return scope

    @staticmethod
    def is_open():
        """Whether new blocks get the prefix of another one."""
        return BlockScope._current.value is not None

    @staticmethod
    def create(prefix, params, hint):
        """Determine the full prefix and the ParameterDict of a new block.

        Parameters
        ----------
        prefix : str or None
            Prefix given by the user.
        params : ParameterDict or None
            Parameters to share, given by the user.
        hint : str
            The class's part of default names, e.g. ``'dense'``.

        Returns
        -------
        tuple of str and ParameterDict
        """
        scope = BlockScope._current.value
        if scope is None:
            outer_prefix, shared = "", None
            if prefix is None:
                prefix = naming.current().get(None, hint) + "_"
        else:
            outer = scope._block.params
            outer_prefix, shared = outer.prefix, outer._shared
            if prefix is None:
                number = scope._counter.get(hint, 0)
                scope._counter[hint] = number + 1
                prefix = f"{hint}{number}_"
        if params is None:
            params = ParameterDict(outer_prefix + prefix, shared)
        else:
            params = ParameterDict(params.prefix, params)
        return (scope._block.prefix if scope else "") + prefix, params

    def __enter__(self):
        if self._block._empty_prefix:
            return self
        BlockScope._current.enter(self)
        naming.Prefix(self._block.prefix).__enter__()
        return self

    def __exit__(self, ptype, value, trace):
        if self._block._empty_prefix:
            return
        naming.NameManager._current.leave()
        BlockScope._current.leave()


BlockScope._current = PerThread(lambda: None)
