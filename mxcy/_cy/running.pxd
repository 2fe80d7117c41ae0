from libc.stdint cimport int32_t

from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.variants cimport Prepared


cdef bint inputs_quiet(Prepared prepared, tuple inputs) noexcept
cdef int name_for_profiler(Prepared prepared, object context) except -1
cdef int run(Prepared prepared, tuple inputs, list outputs, const double *numbers, object context,
             const int32_t *reqs, bint strict) except -1
cdef NDArrayBase run_simple(Prepared prepared, tuple inputs, const double *numbers, object context,
                            object cls)
