"""The native library: its start, its threads, its kernel table."""
from mxcy._cy.native cimport (
    mx_init, mx_kernel_find, mx_last_error, mx_set_threads, mx_threads,
)

from mxcy.base import MXNetError


def initialise(int isa, int threads, long parallel_size):
    """Prepare the native library; see mx_init in mxcy.h."""
    if mx_init(isa, threads, parallel_size) != 0:
        raise MXNetError(mx_last_error().decode())


def set_threads(int threads):
    """Set the size of the parallel team; returns the size before."""
    cdef int before = mx_threads()
    if threads < 1:
        raise ValueError(f"the number of threads must be positive, got {threads}")
    mx_set_threads(threads)
    return before


def has_kernel(str name, int dtype):
    """Whether the kernel table holds `name` for an element type."""
    return mx_kernel_find(name.encode(), dtype, NULL) != NULL
