"""Random streams of one device: see kernels/core/random/rng.h."""
from libc.stdint cimport int64_t, uint32_t

cimport cython

from mxcy._cy.engine cimport MX_WRITES, mx_var_create, mx_var_destroy, mx_var_idle
from mxcy._cy.native cimport (
    mx_last_error, mx_rng_create, mx_rng_destroy, mx_rng_restore, mx_rng_save, mx_rng_seed,
)
from mxcy._cy.pending cimport settle
from mxcy._cy.pool cimport mx_rng_for_dropout

from mxcy._base.errors import MXNetError


@cython.final
cdef class Streams:
    """The random streams of a device, used by operations in sequence.

    Parameters
    ----------
    copies : int
        Number of sets of streams, used in turn by random operators.
    dropout : int, default 0
        Number of sets reserved for Dropout, which then uses no others.
    """

    def __cinit__(self, int copies, int dropout=0):
        self.rng, self.var = mx_rng_create(copies), mx_var_create()
        if dropout and self.rng != NULL:
            self.own = mx_rng_create(dropout)
            mx_rng_for_dropout(self.rng, self.own)
        if self.rng == NULL or self.var == NULL or (dropout and self.own == NULL):
            raise MXNetError(mx_last_error().decode())
        self.address, self.tag = <size_t>self.rng, <size_t>self.var

    def __dealloc__(self):
        mx_var_destroy(self.var)
        mx_rng_destroy(self.rng)
        mx_rng_destroy(self.own)

    cdef bint is_quiet(self) noexcept:
        """Whether no operation uses the streams."""
        return mx_var_idle(self.var) != 0

    def seed(self, uint32_t device, uint32_t seed):
        """Seed all streams."""
        settle(self.var, MX_WRITES)
        with nogil:
            mx_rng_seed(self.rng, device, seed)
            if self.own != NULL:
                mx_rng_seed(self.own, device, seed)

    def get_state(self):
        """Return the state of all streams except Dropout's, as bytes."""
        settle(self.var, MX_WRITES)
        cdef int64_t size = mx_rng_save(self.rng, NULL, 0)
        state = bytearray(size)
        cdef unsigned char[::1] view = state
        if mx_rng_save(self.rng, &view[0], size) != size:
            raise MXNetError(mx_last_error().decode())
        return bytes(state)

    def set_state(self, const unsigned char[::1] state not None):
        """Restore the state that `get_state` returned."""
        settle(self.var, MX_WRITES)
        if mx_rng_restore(self.rng, &state[0] if state.shape[0] else NULL, state.shape[0]) != 0:
            raise MXNetError(mx_last_error().decode())
