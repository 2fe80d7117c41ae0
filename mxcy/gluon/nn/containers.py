"""Container blocks."""

import warnings

from mxcy import ndarray as nd
from mxcy.gluon.block import Block, HybridBlock

__all__ = ["Sequential", "HybridSequential", "Concatenate", "HybridConcatenate", "Identity"]


class Stack:
    """Mixin of `Sequential` and `HybridSequential`."""

    _is_container = True

    def add(self, *blocks):
        """Append blocks.

        Parameters
        ----------
        *blocks : Block
            The blocks.
        """
        for block in blocks:
            self.register_child(block)

    def _run(self, x, *args):
        """Run all blocks in order, passing each one's first output to the next."""
        for block in self._children.values():
            x = block(x, *args)
            args = []
            if isinstance(x, (tuple, list)):
                x, args = x[0], x[1:]
        return (x, *args) if args else x

    def _listed_children(self):
        return self._children.items()

    def __getitem__(self, key):
        layers = list(self._children.values())[key]
        if not isinstance(layers, list):
            return layers
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*layers)
        return part

    def __len__(self):
        return len(self._children)


class Sequential(Stack, Block):
    """A sequence of blocks.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def forward(self, x, *args):
        return self._run(x, *args)

    def hybridize(self, active=True, **kwargs):
        """Switch graph execution of the children on or off, see `HybridBlock.hybridize`."""
        if self._children and all(isinstance(c, HybridBlock) for c in self._children.values()):
            warnings.warn(
                f"All children of this Sequential layer '{self.prefix}' are HybridBlocks. "
                "Consider using HybridSequential for the best performance.",
                UserWarning,
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(Stack, HybridBlock):
    """A sequence of hybrid blocks.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x, *args):
        return self._run(x, *args)


class Concatenate(Sequential):
    """Apply several blocks to the same input and concatenate their outputs.

    Parameters
    ----------
    axis : int
        Axis of the concatenation.
    prefix, params
        See `Block`.
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x):
        return nd.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcatenate(HybridSequential):
    """Apply several hybrid blocks to the same input and concatenate their outputs.

    Parameters
    ----------
    axis : int
        Axis of the concatenation.
    prefix, params
        See `Block`.
    """

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F, x):
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """Return the input.

    Parameters
    ----------
    prefix, params
        See `Block`.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F, x):
        return x
