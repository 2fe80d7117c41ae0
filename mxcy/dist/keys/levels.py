"""Packed bits of quantized gradients; the first element has the highest bits of the first byte."""

import numpy as np

__all__ = ["Levels"]

_WORD = 4  # bytes
#: multiplying a word of four 2-bit codes by this packs them into its highest byte, first one first
_BRING_TOGETHER = np.uint32(1 << 30 | 1 << 20 | 1 << 10 | 1)


class Levels:
    """Packs arrays that have only a few distinct values.

    Parameters
    ----------
    kind : {'1bit', '2bit'}
        One bit: -1 and 1. Two bits: minus the threshold, 0 and the threshold.
    threshold : float

    Attributes
    ----------
    per_word : int
        Elements per 4-byte word.
    """

    def __init__(self, kind, threshold):
        self.kind, self.threshold = kind, np.float32(threshold)
        self.per_word = 32 if kind == "1bit" else 16
        codes = np.arange(256, dtype=np.uint8)
        if kind == "1bit":
            bits = np.unpackbits(codes).reshape(256, 8)
            self._values = bits.astype(np.float32) * 2 - 1
        else:
            pairs = codes[:, None] >> np.array([6, 4, 2, 0], np.uint8) & 3
            self._values = np.array([0, 0, -1, 1], np.float32)[pairs] * self.threshold

    def bytes_of(self, size):
        """The bytes of `size` packed elements, rounded up to words."""
        return -(-size // self.per_word) * _WORD

    def pack(self, array):
        """Pack a flat array.

        Parameters
        ----------
        array : numpy.ndarray of float32

        Returns
        -------
        numpy.ndarray of uint8
        """
        padded = np.zeros(self.bytes_of(array.size) * (self.per_word // _WORD), np.uint8)
        if self.kind == "1bit":
            np.greater(array, 0, out=padded[: array.size].view(bool))
            return np.packbits(padded)
        codes = padded[: array.size]
        np.greater(array, 0, out=codes.view(bool))
        codes |= np.not_equal(array, 0).view(np.uint8) << 1
        words = padded.view("<u4")
        words *= _BRING_TOGETHER
        return padded[_WORD - 1 :: _WORD].copy()

    def unpack(self, packed, size):
        """Unpack an array of `size` elements."""
        return self._values.take(packed, axis=0).reshape(-1)[:size]
