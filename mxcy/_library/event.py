"""Events in memory that processes share; see kernels/include/mxcy_event.h."""

import ctypes

import numpy as np

from mxcy._library.open import open_library

__all__ = ["SharedEvent"]

_library = open_library()
_wait = _library.mx_event_wait
# these keep the GIL, which this thread would not get back before the woken one is at rest
_keeping = ctypes.PyDLL(None, handle=_library._handle)
_set, _clear = _keeping.mx_event_set, _keeping.mx_event_clear
_set.argtypes = _clear.argtypes = [ctypes.c_void_p]
_set.restype, _clear.restype = None, ctypes.c_bool
_wait.argtypes = [ctypes.c_void_p, ctypes.c_int64]
_wait.restype = ctypes.c_bool


class SharedEvent:
    """Like `AutoResetEvent`, for a waiting thread of any process.

    Parameters
    ----------
    memory : numpy.ndarray of uint8
        Zeros at first; its first eight bytes are the event.
    """

    def __init__(self, memory: np.ndarray) -> None:
        self._state, self._address = memory[:4].view(np.int32), memory.ctypes.data

    def set(self) -> None:
        """Wake the waiting thread, or the next one to wait."""
        _set(self._address)

    def is_set(self) -> bool:
        """Whether it is set."""
        return bool(self._state[0])

    def clear(self) -> None:
        """Clear it."""
        if self._state[0]:
            _clear(self._address)

    def wait(self, seconds: float) -> bool:
        """Wait until it is set, at most so long, and clear it.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        bool
            Whether it was set; the wait may end early.
        """
        return _wait(self._address, int(seconds * 1e9))
