from mxcy._cy.ndarray cimport NDArrayBase


cdef NDArrayBase pick(NDArrayBase array, NDArrayBase places, bint flat)
