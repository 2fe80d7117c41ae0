from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.shapes cimport Shape
from mxcy._cy.storage cimport Storage


cdef enum:
    MAX_NUMBERS = 8  # maximum number of dynamic attributes of an operator


cdef class Node:
    cdef public object call  # mxcy.ops.core.prepare.Call of the operation; None for a variable
    cdef double values[MAX_NUMBERS]  # the dynamic attributes' values
    cdef int nvalues
    cdef object handle  # the operator's OpHandle, if the operation has one output
    cdef public object context
    cdef public tuple parents  # the node of each input, or None
    cdef public object positions  # output index of each input in its parent; None: all 0
    cdef public object saved_inputs  # each input array that the gradient rule reads, or None
    cdef list kept_outputs  # views of outputs read by the gradient rule, if there are several
    cdef Storage kept_storage  # for a view of the only output
    cdef char *kept_data
    cdef Shape kept_layout
    cdef int kept_dtype
    cdef public object custom  # a Python function with its own backward, instead of an operator
    cdef public object grad  # a variable's gradient array
    cdef public object grad_req
    # For a variable, whether backward has written the gradient since it was last used; for an
    # operation, its id in deferred computation, or 0.
    cdef public int fresh
    cdef public bint released


cdef bint has_history(NDArrayBase array) except -1
cdef void keep_output(Node node, NDArrayBase output)
