"""Random streams of one device: see `_cy/streams.pyx`."""

import ctypes

from mxcy._base.errors import MXNetError
from mxcy._ctypes.engine import WRITES
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.native import check, lib
from mxcy._ctypes.pending import settle

__all__ = ["Streams"]

lib.mx_rng_for_dropout.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


class Streams:
    """The random streams of a device, used by operations in sequence.

    Parameters
    ----------
    copies : int
        Number of sets of streams, used in turn by random operators.
    dropout : int, default 0
        Number of sets reserved for Dropout, which then uses no others.
    """

    def __init__(self, copies, dropout=0):
        self.address, self.tag = lib.mx_rng_create(copies), locked.mx_var_create()
        self._drop = locked.mx_var_destroy, lib.mx_rng_destroy
        self._own = lib.mx_rng_create(dropout) if dropout else None
        if not self.address or not self.tag or (dropout and not self._own):
            raise MXNetError(lib.mx_last_error().decode())
        lib.mx_rng_for_dropout(self.address, self._own)

    def __del__(self):
        if self.address:
            drop_tag, drop_rng = self._drop  # modules may be gone when the interpreter ends
            drop_tag(self.tag)
            drop_rng(self.address)
            drop_rng(self._own)

    def is_quiet(self):
        """Whether no operation uses the streams."""
        return bool(locked.mx_var_idle(self.tag))

    def seed(self, device, seed):
        """Seed all streams."""
        settle(self.tag, WRITES)
        lib.mx_rng_seed(self.address, device, seed)
        if self._own:
            lib.mx_rng_seed(self._own, device, seed)

    def get_state(self):
        """Return the state of all streams except Dropout's, as bytes."""
        settle(self.tag, WRITES)
        size = lib.mx_rng_save(self.address, None, 0)
        state = ctypes.create_string_buffer(size)
        if lib.mx_rng_save(self.address, state, size) != size:
            raise MXNetError(lib.mx_last_error().decode())
        return state.raw

    def set_state(self, state):
        """Restore the state that `get_state` returned."""
        settle(self.tag, WRITES)
        check(lib.mx_rng_restore(self.address, bytes(state), len(state)), "")
