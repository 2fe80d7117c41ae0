"""Shares: the parts of values that a server keeps."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mxcy.dist.keys.levels import Levels
from mxcy.dist.memory import take

__all__ = ["Pull", "Share", "take_near"]


class Pull(NamedTuple):
    """A pull that waits for a round."""

    needed: int  # round
    place: int
    since: float
    on_ready: Callable  # ``on_ready(error)``, with an error message or None


class Share:
    """A part of a dense value, with waiting pushes and pulls.

    Parameters
    ----------
    key : int or str
    terms : dict
        ``shape`` and ``dtype`` of the part, dtype of the whole ``weight``, ``waits`` and, if pushes
        are packed, ``levels``.
    body : numpy.ndarray of uint8
        The initial value.
    blocks : SharedBlocks, optional
        For the value, which pullers on this machine then read there.

    Attributes
    ----------
    value : numpy.ndarray
        Contiguous.
    pushes : dict of int to deque
        By place: pushes that wait for those of other workers.
    arrived : dict of int to int
        By place: number of pushes.
    rounds : int
        Number of sums so far.
    pulls : list of Pull
        Waiting pulls.
    waits : bool
        Whether pushes wait for those of the other workers.
    failed : str or None
        The reason why the value no longer changes.
    """

    def __init__(self, key, terms, body, blocks=None):
        self.key, self.weight, self._blocks, self._block = key, terms["weight"], blocks, None
        self.value = self._stored(body).view(np.dtype(terms["dtype"])).reshape(terms["shape"])
        self.pushes, self.arrived, self.rounds, self.pulls = {}, {}, 0, []
        self._answers = []  # those that send the current value's memory
        self._levels = Levels(*terms["levels"]) if "levels" in terms else None
        self.waits, self.failed = terms["waits"], None

    def read(self, body, form):
        """The pushed array of a message."""
        if self._levels is not None:
            body = self._levels.unpack(body, self.value.size)
        return body.view(self.value.dtype).reshape(self.value.shape)

    def total(self, pushed):
        """The sum of pushed arrays, in order."""
        if len(pushed) == 1:
            return pushed[0]
        total = np.add(pushed[0], pushed[1])
        for array in pushed[2:]:
            np.add(total, array, out=total)
        return total

    def replace(self, total):
        """Replace the value by a sum."""
        self.value[...] = total

    def before_change(self):
        """Leave the value to answers that are still being sent, and go on with a copy."""
        if self._answers or (self._block is not None and self._block.lent):
            octets = self.value.reshape(-1).view(np.uint8)
            copy = self._stored(octets).view(self.value.dtype)
            self.value, self._answers = copy.reshape(self.value.shape), []

    def _stored(self, octets):
        """A copy of the value's memory, in a block if possible."""
        self._block, copy = take_near(octets.size, self._blocks)
        np.copyto(copy, octets)
        return copy

    def answer(self, body, near):
        """The answer to a pull: form, body, and a function to call when it has been sent.

        Parameters
        ----------
        body : numpy.ndarray of uint8
            The body of the pull.
        near : bool
            Whether the puller is another process that can read blocks of this one.
        """
        answers, answer = self._answers, object()
        answers.append(answer)
        body = self._block if near and self._block is not None else self.value
        return [], body, lambda: answers.remove(answer)


def take_near(count, blocks):
    """A block or None, and memory for so many bytes, there if it is not None."""
    block = None if blocks is None else blocks.take(count)
    return block, take(count) if block is None else block.array()
