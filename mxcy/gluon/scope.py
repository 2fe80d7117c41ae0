"""Name scopes: which prefix and which parameter dictionary a new block gets."""

import weakref

from mxcy import name as naming
from mxcy._base.per_thread import PerThread
from mxcy.gluon.parameter_dict import ParameterDict

__all__ = ["BlockScope"]

#: by the address of a block, which its scope keeps; a block keeping its scope would be in a circle
_living: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class BlockScope:
    """The scope of one block: inside its ``with``, new blocks become named after it.

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
        """The scope of a block: one object as long as somebody holds it."""
        scope = _living.get(id(block))
        if scope is None:
            scope = _living[id(block)] = cls(block)
        return scope

    @staticmethod
    def is_open():
        """Whether new blocks are named after another one."""
        return BlockScope._current.value is not None

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
