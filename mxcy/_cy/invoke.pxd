from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.variants cimport OpHandle, Prepared, Variant


cdef object invoke(Variant variant, tuple inputs, const double *numbers, object out, object cls)
cdef object call_operator(OpHandle handle, tuple inputs, tuple raw, object out, dict extra,
                          object cls)
cdef bint clashes(Prepared prepared, int number, NDArrayBase out, tuple inputs, dict places)
