"""Random streams of one device: see `_cy/streams.pyx`."""

import ctypes

from mxcy._ctypes.native import check, lib
from mxcy.base import MXNetError

__all__ = ["Streams"]


class Streams:
    """The random streams of one device.

    Parameters
    ----------
    copies : int
        Sets of streams that random operators take in turn.
    """

    def __init__(self, copies):
        self.address = lib.mx_rng_create(copies)
        if not self.address:
            raise MXNetError(lib.mx_last_error().decode())

    def __del__(self):
        if self.address:
            lib.mx_rng_destroy(self.address)

    def seed(self, device, seed):
        """Start all streams afresh."""
        lib.mx_rng_seed(self.address, device, seed)

    def get_state(self):
        """The places of all streams, as bytes."""
        size = lib.mx_rng_save(self.address, None, 0)
        state = ctypes.create_string_buffer(size)
        if lib.mx_rng_save(self.address, state, size) != size:
            raise MXNetError(lib.mx_last_error().decode())
        return state.raw

    def set_state(self, state):
        """Put all streams where they were when `get_state` returned `state`."""
        check(lib.mx_rng_restore(self.address, bytes(state), len(state)), "")
