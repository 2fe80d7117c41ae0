"""Arithmetic between arrays and numbers: what the operators of NDArrayBase run."""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact

from mxcy._cy.invoke cimport invoke
from mxcy._cy.ndarray cimport NDArrayBase, plug_arithmetic
from mxcy._cy.services cimport services
from mxcy._cy.variants cimport OpHandle, Variant

from mxcy._cy.variants import bind
from mxcy._base.errors import MXNetError

cdef list arrays_handles = [None] * 12
cdef list number_handles = [None] * 12
cdef list reversed_handles = [None] * 12


def set_operators(list table):
    """Tell the operators behind +, -, *, /, %, **, ==, !=, >, >=, <, <=.

    Parameters
    ----------
    table : list
        For each of them (array with array, array with number, number with array), all records.
    """
    for i, (both, number, number_first) in enumerate(table):
        arrays_handles[i], number_handles[i] = bind(both), bind(number)
        reversed_handles[i] = bind(number_first)


cdef inline Variant plain(OpHandle handle):
    if handle is None:
        raise MXNetError("arithmetic of arrays is not set up: import mxcy, not its parts")
    if handle.plain0 is None:
        handle.plain0 = handle.make_variant({}, False)
    return handle.plain0


cdef inline double value_of(object number) except? -1:
    return PyLong_AsDouble(number) if PyLong_CheckExact(number) else number


cdef object arithmetic(int operation, object lhs, object rhs):
    cdef double number
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            return invoke(plain(<OpHandle>arrays_handles[operation]), (lhs, rhs), NULL, None)
        if PyFloat_CheckExact(rhs) or PyLong_CheckExact(rhs):
            number = value_of(rhs)
            return invoke(plain(<OpHandle>number_handles[operation]), (lhs,), &number, None)
    elif PyFloat_CheckExact(lhs) or PyLong_CheckExact(lhs):
        number = value_of(lhs)
        return invoke(plain(<OpHandle>reversed_handles[operation]), (rhs,), &number, None)
    return services.unusual_operands(operation, lhs, rhs)


plug_arithmetic(arithmetic)
