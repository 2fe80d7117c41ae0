from mxcy._cy.variants cimport Variant


cdef object invoke(Variant variant, tuple inputs, const double *numbers, object out)
