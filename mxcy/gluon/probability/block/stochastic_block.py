"""Blocks that compute losses of their own beside their outputs."""

import functools

from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn.containers import Stack

__all__ = ["StochasticBlock", "StochasticSequential"]


class StochasticBlock(HybridBlock):
    """A block that computes losses, for instance divergences, beside its outputs.

    Its `forward` is decorated with ``@StochasticBlock.collectLoss`` and tells losses by `add_loss`;
    after a call they are the list `losses`, also where the block runs as a graph.

    Parameters
    ----------
    **kwargs
        See `HybridBlock`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._losses, self._added = [], []

    def add_loss(self, loss):
        """Tell a loss; to be called in `forward`.

        Parameters
        ----------
        loss : ndarray
        """
        self._added.append(loss)

    @property
    def losses(self):
        """The losses of the last call, a list."""
        return self._losses

    @staticmethod
    def collectLoss(func):  # noqa: N802 - its name in MXNet
        """Decorate `forward`.

        Parameters
        ----------
        func : callable

        Returns
        -------
        callable
            Returns the output of `func` and a list of the losses.
        """

        @functools.wraps(func)
        def forward(self, *args, **kwargs):
            self._added = []
            out = func(self, *args, **kwargs)
            added, self._added = self._added, []
            return out, added

        forward.collects_losses = True
        return forward

    def __call__(self, *args, **kwargs):
        if not getattr(self.forward, "collects_losses", False):
            raise ValueError(
                f"{type(self).__name__}: the forward function should be decorated by "
                "StochasticBlock.collectLoss"
            )
        out, losses = super().__call__(*args, **kwargs)
        self._losses = list(losses)
        return out


class StochasticSequential(Stack, StochasticBlock):
    """Blocks one after the other, of which some are stochastic.

    Its `losses` are lists, those of each stochastic block.

    Parameters
    ----------
    **kwargs
        See `HybridBlock`.
    """

    @StochasticBlock.collectLoss
    def forward(self, x, *args):
        """Send the inputs through all blocks.

        Parameters
        ----------
        x, *args : ndarray

        Returns
        -------
        ndarray
        """
        out = self._run(x, *args)
        for block in self._children.values():
            if isinstance(block, StochasticBlock):
                self.add_loss(block.losses)
        return out
