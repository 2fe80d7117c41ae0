"""Blocks that return loss terms in addition to their outputs."""

import functools

from mxcy.gluon.block import HybridBlock
from mxcy.gluon.nn.containers import Stack

__all__ = ["StochasticBlock", "StochasticSequential"]


class StochasticBlock(HybridBlock):
    """A block that computes loss terms, e.g. divergences, in addition to its outputs.

    Decorate `forward` with ``@StochasticBlock.collectLoss`` and call `add_loss` in it; after a call
    the attribute `losses` lists the terms, also if the block runs as a graph.

    Parameters
    ----------
    **kwargs
        See `HybridBlock`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._losses, self._added = [], []

    def add_loss(self, loss):
        """Add a loss term; call it in `forward`.

        Parameters
        ----------
        loss : ndarray
        """
        self._added.append(loss)

    @property
    def losses(self):
        """list: the losses of the last call."""
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
    """A sequence of blocks, some of them stochastic.

    Its `losses` is a list with the losses of each stochastic block.

    Parameters
    ----------
    **kwargs
        See `HybridBlock`.
    """

    @StochasticBlock.collectLoss
    def forward(self, x, *args):
        """Run all blocks in order.

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
