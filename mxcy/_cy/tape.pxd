from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.shapes cimport Shape
from mxcy._cy.storage cimport Storage


cdef enum:
    MAX_NUMBERS = 8  # dynamic attributes of an operator, at most


cdef class Node:
    cdef public object call  # mxcy.ops.core.prepare.Call of the operation; None for a variable
    cdef double values[MAX_NUMBERS]  # the dynamic attributes' values
    cdef int nvalues
    cdef object handle  # the operator's OpHandle, where the operation has one output
    cdef public object context
    cdef public tuple parents  # for each input the node that made it, or None
    cdef public object positions  # for each input which output of its parent it is; None: all are 0
    cdef public object saved_inputs  # for each input the array the gradient rule reads, or None
    cdef list kept_outputs  # views of the outputs the gradient rule reads, when there are several
    cdef Storage kept_storage  # what a view of the only output is made of
    cdef char *kept_data
    cdef Shape kept_layout
    cdef int kept_dtype
    cdef public object custom  # a Python function with its own backward, instead of an operator
    cdef public object grad  # a variable's gradient array
    cdef public object grad_req
    # Whether backward has written a variable's gradient since it was last used; of an operation
    # the number with which deferred computation has noted it down, or 0.
    cdef public int fresh
    cdef public bint released


cdef bint has_history(NDArrayBase array) except -1
cdef void keep_output(Node node, NDArrayBase output)
