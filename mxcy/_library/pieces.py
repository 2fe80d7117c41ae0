"""Sums and updates by several processes that share memory; see kernels/include/mxcy_pieces.h."""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mxcy._base.dtypes import code_of
from mxcy._library.open import open_library

__all__ = ["FAILED", "HEADER", "RANKS", "READY", "STATES", "SUMMED", "FlatUpdate", "Pieces"]

HEADER = 4096  # bytes before a rank's values
READY, SUMMED, FAILED = 1, 2, 4  # results of `Pieces.advance`
RANKS, STATES = 1024, 8  # of a session and of an update, at most
_SLOTS, _LEAST_SLOTS = 128, 4

_number, _memory = ctypes.c_int64, ctypes.c_void_p


class _Share(ctypes.Structure):
    """mx_pieces_share."""

    _fields_ = (("first", _number), ("length", _number), ("rates", _memory), ("states", _memory))


class _Pieces(ctypes.Structure):
    """mx_pieces."""

    _fields_ = (
        *((name, _number) for name in ("ranks", "rank", "steps", "piece", "slots")),
        *((name, _memory) for name in ("cuts", "inputs", "values", "users")),
        ("base", _number),
        ("dtype", ctypes.c_int32),
        ("streams", ctypes.c_int32),
        ("keys", _number),
        *((name, _memory) for name in ("starts", "sources", "targets", "kernel", "params", "sums")),
        *((name, _number) for name in ("nstates", "nrates", "nshares")),
        ("shares", _memory),
        *((name, _number) for name in ("passed", "summed", "updated", "share", "ready", "failed")),
        ("taken", _memory),
        ("nanoseconds", _number * 2),
    )


_library = open_library()
_library.mx_pieces_advance.argtypes = [ctypes.POINTER(_Pieces)]
_library.mx_pieces_updated.argtypes = [ctypes.POINTER(_Pieces)]
_library.mx_pieces_updated.restype = None
_library.mx_pieces_steps.argtypes = [_memory]
_library.mx_pieces_steps.restype = _number
_library.mx_kernel_find.argtypes = [ctypes.c_char_p, ctypes.c_int32, _memory]
_library.mx_kernel_find.restype = _memory


class FlatUpdate(NamedTuple):
    """An update of flat arrays by a kernel of a weight, its gradient, states and rates."""

    kernel: str
    params: bytes
    #: of each share of the weights: its length, rates as float64, and states as flat arrays
    shares: Sequence[tuple[int, np.ndarray, Sequence[np.ndarray]]]


class Pieces:
    """An array whose parts are summed and updated by the ranks that own them.

    Parameters
    ----------
    rank : int
    inputs, values : list of numpy.ndarray
        Memory of each rank that all ranks share: what it passes to the others, and `HEADER` bytes,
        initially zeros, followed by the values of its part.
    cuts : list of int
        The first element of the part of each rank, and the length.
    dtype : numpy.dtype
    most : int
        Bytes of a piece at most.

    Raises
    ------
    ValueError
        For too many ranks.
    """

    def __init__(
        self,
        rank: int,
        inputs: Sequence[np.ndarray],
        values: Sequence[np.ndarray],
        cuts: Sequence[int],
        dtype: np.dtype,
        most: int,
    ) -> None:
        ranks, line = len(inputs), 64
        if ranks > RANKS:
            raise ValueError(f"expected at most {RANKS} ranks, got {ranks}")
        room = inputs[0].nbytes // (ranks - 1)
        piece = max(1, min(most, room // _LEAST_SLOTS) // line * line // dtype.itemsize)
        slots = min(_SLOTS, room // (piece * dtype.itemsize))
        self._cuts = np.array(cuts, np.int64)
        steps = max(1, -(-int(np.diff(self._cuts).max()) // piece))
        self._taken, self._users = np.zeros(ranks, np.int64), np.zeros(slots, np.int64)
        self._kept = inputs, values, _addresses(inputs), _addresses(values)
        self._state = _Pieces(
            ranks=ranks,
            rank=rank,
            steps=steps,
            piece=piece,
            slots=slots,
            cuts=self._cuts.ctypes.data,
            inputs=self._kept[2].ctypes.data,
            values=self._kept[3].ctypes.data,
            users=self._users.ctypes.data,
            base=_library.mx_pieces_steps(values[rank].ctypes.data) - steps,
            dtype=code_of(dtype.name),
            streams=True,
            taken=self._taken.ctypes.data,
        )
        self._session: list[object] = []
        self._update: FlatUpdate | None = None
        self._described: list[object] = []

    def begin(
        self,
        starts: np.ndarray,
        sources: np.ndarray,
        targets: np.ndarray | None = None,
        sums: np.ndarray | None = None,
    ) -> None:
        """Begin a session; all ranks do.

        Parameters
        ----------
        starts : numpy.ndarray of int64
            The first element of each key in the array, then the length of the array.
        sources : numpy.ndarray of int64
            Addresses of the keys' arrays that this rank contributes.
        targets : numpy.ndarray of int64, optional
            Addresses of arrays that take the new values, which may be those of `sources`.
        sums : numpy.ndarray, optional
            Memory for the sums of this rank's part, by which values are updated; without it, sums
            are the new values.
        """
        state = self._state
        self._taken[:] = 0
        state.base += state.steps
        state.passed = state.summed = state.updated = state.share = state.failed = 0
        state.ready = sums is None
        state.keys, state.starts, state.sources = len(sources), _address(starts), _address(sources)
        state.targets, state.sums, state.kernel = _address(targets), _address(sums), None
        self._session = [starts, sources, targets, sums]

    def use(self, update: FlatUpdate | None) -> None:
        """Continue a session that is `READY`, with an update of this rank's values, if any."""
        state = self._state
        state.ready = True
        if update is None:
            return
        if update is not self._update:
            self._describe(update)
        state.kernel = self._kernel

    def _describe(self, update: FlatUpdate) -> None:
        state, self._update = self._state, update
        self._kernel = _library.mx_kernel_find(update.kernel.encode(), state.dtype, None)
        kept: list[object] = []
        params = ctypes.create_string_buffer(update.params, len(update.params))
        shares, first = (_Share * len(update.shares))(), 0
        for share, (length, rates, states) in zip(shares, update.shares, strict=True):
            memory = _addresses(states)
            kept.append(memory)
            share.first, share.length = first, length
            share.rates, share.states = rates.ctypes.data, memory.ctypes.data
            first += length
        state.nshares, state.nstates = len(shares), len(update.shares[0][2])
        state.nrates = update.shares[0][1].size
        state.params, state.shares = ctypes.addressof(params), ctypes.addressof(shares)
        self._described = [*kept, params, shares]

    def advance(self) -> int:
        """Do what can be done at once.

        Returns
        -------
        int
            0: others are awaited. `READY`: values may change now, and `use` follows. `SUMMED`:
            there is no update, all sums are there, and `updated` follows that of the values.
            Anything else: the session is over; `FAILED` if the kernel has failed.
        """
        return int(_library.mx_pieces_advance(self._state))

    def updated(self) -> None:
        """Tell all ranks that the values of this rank's part are the new ones."""
        _library.mx_pieces_updated(self._state)


def _address(array: np.ndarray | None) -> int | None:
    return None if array is None else int(array.ctypes.data)


def _addresses(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.array([array.ctypes.data for array in arrays], np.int64)
