from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.variants cimport OpHandle


cdef bint is_number(object value)
cdef object with_number(OpHandle handle, NDArrayBase array, object value, object out)
