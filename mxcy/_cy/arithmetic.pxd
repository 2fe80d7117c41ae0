from mxcy._cy.variants cimport OpHandle


cdef bint is_number(object value)
cdef object with_number(OpHandle handle, tuple inputs, object value, object out)
