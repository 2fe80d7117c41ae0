"""Arithmetic between arrays and numbers, for the operators of NDArrayBase."""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongLongAndOverflow, PyLong_CheckExact

from mxcy._cy.invoke cimport invoke
from mxcy._cy.ndarray cimport NDArrayBase, operations
from mxcy._cy.services cimport services
from mxcy._cy.variants cimport OpHandle, Variant

from mxcy._cy.variants import bind
from mxcy._base.errors import MXNetError

cdef list arrays_handles = [None] * 12
cdef list number_handles = [None] * 12
cdef list reversed_handles = [None] * 12

# Likewise for arrays of `mx.np`, with the Python fallback for other operands.
cdef list numpy_handles = []

cdef long long MOST_EXACT = 1 << 53  # the largest integer up to which doubles are exact


def set_operators(list table):
    """Set the operators of +, -, *, /, %, **, ==, !=, >, >=, <, <=.

    Parameters
    ----------
    table : list
        Records of each for (array, array), (array, scalar) and (scalar, array).
    """
    for i, (both, number, number_first) in enumerate(table):
        arrays_handles[i], number_handles[i] = bind(both), bind(number)
        reversed_handles[i] = bind(number_first)


def use_numpy(cls, list table, unusual, store):
    """Set the arithmetic of arrays of `mx.np`.

    Parameters
    ----------
    cls : type
        The array class.
    table : list
        Records of each operator, in the order of `set_operators`, with further ones.
    unusual : callable
        ``unusual(operation, lhs, rhs)``: arithmetic with other operands.
    store : callable
        ``store(result, out)`` casts a result into an array of another element type.
    """
    numpy_handles[:] = [tuple(map(bind, row)) for row in table]
    services.numpy_class, services.numpy_unusual, services.numpy_store = cls, unusual, store


def numpy_arithmetic(int operation, lhs, rhs):
    """Apply an operator, given by its number, to arrays of `mx.np`."""
    return in_numpy(operation, lhs, rhs)


def numpy_operator(int operation, bint reflected=False):
    """Make a method for `numpy_arithmetic` with an operator's number.

    Parameters
    ----------
    operation : int
    reflected : bool
        Whether the array is the right operand.
    """
    def operator(array, other):
        if reflected:
            return in_numpy(operation, other, array)
        return in_numpy(operation, array, other)

    return operator


cdef bint is_number(object value):
    """Whether a value is a float, or an int exactly representable as a double."""
    cdef long long number
    cdef int overflow = 0
    if PyFloat_CheckExact(value):
        return True
    if not PyLong_CheckExact(value):
        return False
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    return overflow == 0 and -MOST_EXACT <= number <= MOST_EXACT


cdef object with_number(OpHandle handle, tuple inputs, object value, object out):
    """Call an operator with a scalar operand."""
    cdef double number = value_of(value)
    return invoke(
        handle.number_variant(PyLong_CheckExact(value)), inputs, &number, out, services.numpy_class
    )


cdef object in_numpy(int operation, object lhs, object rhs):
    cdef tuple handles = <tuple>numpy_handles[operation]
    cdef OpHandle handle
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            handle = <OpHandle>handles[0]
            return invoke(handle.plain_now(), (lhs, rhs), NULL, None, services.numpy_class)
        if is_number(rhs):
            return with_number(<OpHandle>handles[1], (lhs,), rhs, None)
    elif is_number(lhs):
        return with_number(<OpHandle>handles[2], (rhs,), lhs, None)
    return services.numpy_unusual(operation, lhs, rhs)


cdef inline Variant plain(OpHandle handle):
    if handle is None:
        raise MXNetError("arithmetic of arrays is not set up: import mxcy, not its parts")
    if handle.plain0 is None:
        handle.plain0 = handle.make_variant({}, False)
    return handle.plain0


cdef inline double value_of(object number) except? -1:
    return PyLong_AsDouble(number) if PyLong_CheckExact(number) else number


cdef object arithmetic(int operation, object lhs, object rhs):
    if type(lhs) is services.array_class:
        if type(rhs) is services.array_class:
            return of_arrays(operation, lhs, rhs)
        if PyFloat_CheckExact(rhs) or PyLong_CheckExact(rhs):
            return of_number(<OpHandle>number_handles[operation], lhs, rhs)
    elif type(rhs) is services.array_class and (PyFloat_CheckExact(lhs) or PyLong_CheckExact(lhs)):
        return of_number(<OpHandle>reversed_handles[operation], rhs, lhs)
    if services.numpy_class is not None and (
        isinstance(lhs, services.numpy_class) or isinstance(rhs, services.numpy_class)
    ):
        return in_numpy(operation, lhs, rhs)
    # Sparse arrays and unusual operands remain.
    if isinstance(lhs, NDArrayBase):
        if isinstance(rhs, NDArrayBase):
            return of_arrays(operation, lhs, rhs)
        if PyFloat_CheckExact(rhs) or PyLong_CheckExact(rhs):
            return of_number(<OpHandle>number_handles[operation], lhs, rhs)
    elif PyFloat_CheckExact(lhs) or PyLong_CheckExact(lhs):
        return of_number(<OpHandle>reversed_handles[operation], rhs, lhs)
    return services.unusual_operands(operation, lhs, rhs)


cdef inline object of_arrays(int operation, object lhs, object rhs):
    """Arithmetic between arrays of `mx.nd`."""
    return invoke(
        plain(<OpHandle>arrays_handles[operation]), (lhs, rhs), NULL, None, services.array_class
    )


cdef inline object of_number(OpHandle handle, object array, object value):
    """Arithmetic between an array of `mx.nd` and a number."""
    cdef double number = value_of(value)
    return invoke(plain(handle), (array,), &number, None, services.array_class)


operations.calculate = arithmetic
