"""Gradients rounded to a few levels, as packed bits; the first element has the highest bits."""

import numpy as np

from mxcy._library.gradient_bits import add_levels, round_gradients, scale_levels

__all__ = ["Levels"]

_WORD = 4  # bytes


class Levels:
    """Rounds gradients to one of a few levels, and sums these as integers.

    Parameters
    ----------
    kind : {'1bit', '2bit'}
        One bit: -1 and 1. Two bits: minus the threshold, 0 and the threshold.
    threshold : float
        Gradients above it become 1, or those from it on the threshold.

    Attributes
    ----------
    bits : int
        Per element.
    per_word : int
        Elements per 4-byte word.
    """

    def __init__(self, kind, threshold):
        self.kind, self.threshold = kind, np.float32(threshold)
        self.bits = 1 if kind == "1bit" else 2
        self.per_word = 8 * _WORD // self.bits
        self._step = 1.0 if kind == "1bit" else float(self.threshold)  # between levels and 0

    def padded(self, size):
        """`size` elements, rounded up to whole words."""
        return -(-size // self.per_word) * self.per_word

    def bytes_of(self, size):
        """The bytes of `size` packed elements, rounded up to words."""
        return self.padded(size) // self.per_word * _WORD

    def round(self, gradients, residuals, packed):
        """Round gradients, with error feedback.

        Parameters
        ----------
        gradients : numpy.ndarray of float32
            Contiguous.
        residuals : numpy.ndarray of float32
            Added to the gradients, then replaced by the rounding errors.
        packed : numpy.ndarray of uint8
            Takes the bits, see `bytes_of`.
        """
        round_gradients(self.bits, self.threshold, gradients, residuals, packed)

    def pack(self, array):
        """Pack a flat array of levels.

        Parameters
        ----------
        array : numpy.ndarray of float32

        Returns
        -------
        numpy.ndarray of uint8
        """
        packed = np.empty(self.bytes_of(array.size), np.uint8)
        bound = 0.0 if self.kind == "1bit" else self.threshold
        round_gradients(self.bits, bound, np.ascontiguousarray(array), None, packed)
        return packed

    def unpack(self, packed, size):
        """Unpack an array of `size` elements."""
        values = np.empty(size, np.float32)
        self.scale(self.sum([packed], size), values)
        return values

    def sums(self, size, ranks):
        """Memory for sums of `size` elements over so many ranks."""
        return np.empty(size, np.int8 if ranks <= np.iinfo(np.int8).max else np.int16)

    def sum(self, terms, size):
        """Sum packed arrays as multiples of the threshold.

        Parameters
        ----------
        terms : list of numpy.ndarray of uint8
            One per rank.
        size : int
            Number of elements.

        Returns
        -------
        numpy.ndarray
            See `sums`.
        """
        totals = self.sums(size, len(terms))
        totals[...] = 0
        for packed in terms:
            add_levels(self.bits, packed, totals)
        return totals

    def scale(self, sums, values):
        """Convert sums to floats.

        Parameters
        ----------
        sums : numpy.ndarray
            See `sums`.
        values : numpy.ndarray of float32
        """
        scale_levels(sums, self._step, values)
