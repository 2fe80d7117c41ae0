from mxcy._cy.ndarray cimport NDArrayBase


cdef NDArrayBase pick(NDArrayBase array, NDArrayBase places, bint flat)
cdef bint is_comparable(NDArrayBase array) noexcept
cdef NDArrayBase distinct(NDArrayBase ordered)
