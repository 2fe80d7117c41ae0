"""Random streams of one device: see kernels/core/rng.h."""
from libc.stdint cimport int64_t, uint32_t

cimport cython

from mxcy._cy.native cimport (
    mx_last_error, mx_rng, mx_rng_create, mx_rng_destroy, mx_rng_restore, mx_rng_save, mx_rng_seed,
)

from mxcy.base import MXNetError


@cython.final
cdef class Streams:
    """The random streams of one device.

    Parameters
    ----------
    copies : int
        Sets of streams that random operators take in turn.
    """

    cdef mx_rng *rng
    cdef readonly size_t address  # what a kernel call needs

    def __cinit__(self, int copies):
        self.rng = mx_rng_create(copies)
        if self.rng == NULL:
            raise MXNetError(mx_last_error().decode())
        self.address = <size_t>self.rng

    def __dealloc__(self):
        mx_rng_destroy(self.rng)

    def seed(self, uint32_t device, uint32_t seed):
        """Start all streams afresh."""
        with nogil:
            mx_rng_seed(self.rng, device, seed)

    def get_state(self):
        """The places of all streams, as bytes."""
        cdef int64_t size = mx_rng_save(self.rng, NULL, 0)
        state = bytearray(size)
        cdef unsigned char[::1] view = state
        if mx_rng_save(self.rng, &view[0], size) != size:
            raise MXNetError(mx_last_error().decode())
        return bytes(state)

    def set_state(self, const unsigned char[::1] state not None):
        """Put all streams where they were when `get_state` returned `state`."""
        if mx_rng_restore(self.rng, &state[0] if state.shape[0] else NULL, state.shape[0]) != 0:
            raise MXNetError(mx_last_error().decode())
