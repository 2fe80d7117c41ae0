"""The array type of the Cython front: views, rows, operators, buffers.

Arrays are always C-contiguous.
"""
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LT, Py_NE, PyObject
from cpython.slice cimport PySlice_Check, PySlice_Unpack
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

cimport cython

from mxcy._cy.buffers cimport describe, window
from mxcy._cy.elements cimport itemsize, number_at
from mxcy._cy.engine cimport MX_READS, MX_WRITES, mx_var_failed, raise_kept
from mxcy._cy.homes cimport is_shared
from mxcy._cy.modes cimport deferred
from mxcy._cy.native cimport mx_gpu_settle, mx_last_error
from mxcy._cy.pending cimport settle, wait
from mxcy._cy.profiler cimport MX_PROFILE_API, mx_profiled
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport BLANK, SPARSE, Shape, shape_of, with_rows
from mxcy._cy.slots cimport mx_bare, mx_new, mx_show_new, mx_wrap_operators
from mxcy._cy.storage cimport Storage, allocate, clock, export, is_quiet, var_of, wrote

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError, TracedValueError, kernel_error

cdef list ELEMENT_TYPES = [dtypes.type_of(code) for code in range(15)]
cdef tuple NO_ARGS = ()


cdef int settle_on_device(NDArrayBase array, bint writes) except -1:
    """Wait for the operations launched on an array's device."""
    cdef int status, device = array.storage.context.device_id
    cdef void *data = array.data
    with nogil:
        status = mx_gpu_settle(device, data, writes)
    if status != 0:
        raise kernel_error("", mx_last_error().decode())
    return 0


cdef object class_of(NDArrayBase array):
    """The class, of the two dense ones, of arrays derived from an array."""
    if services.numpy_class is not None and type(array) is not services.array_class:
        if isinstance(array, services.numpy_class):
            return services.numpy_class
    return services.array_class


cdef int check_look(NDArrayBase array) except -1:
    """Reject reading values of an array recorded by deferred computation."""
    if array.node is not None and deferred():
        raise TracedValueError("deferred computation: the program reads the values of an array")
    return 0


cdef NDArrayBase bare(object cls):
    """Make an array without memory, shape and dtype, to be set by the caller."""
    return <NDArrayBase>mx_new(cls, NO_ARGS)


cdef Storage EMPTY = Storage.__new__(Storage)  # storage of all blank arrays


cdef object make_blank(object cls, object args, PyObject *kwargs):
    """Implement ``cls.__new__(cls)``: an array without elements, until it becomes another."""
    cdef NDArrayBase array = <NDArrayBase>mx_bare(cls, args, kwargs)
    if EMPTY.context is None:
        EMPTY.context = services.default_context
    array.layout, array.storage = BLANK, EMPTY
    return array


cdef NDArrayBase make_array(Shape layout, int dtype, object context, object cls):
    """Allocate an array over uninitialised memory of the pool."""
    cdef NDArrayBase array
    if context is not services.default_context and layout.size and is_shared(context):
        array = <NDArrayBase>services.shared_array(layout.dims, dtype, context)
        return array if type(array) is cls else make_view(array, layout, 0, cls)
    array = <NDArrayBase>mx_new(cls, NO_ARGS)
    array.storage = allocate(layout.size * itemsize[dtype], context)
    array.data = <char *>array.storage.data
    if array.data == NULL and layout.size:
        raise MXNetError(f"{mx_last_error().decode()}, for shape {layout.dims}")
    array.layout = layout
    array.dtype_code = dtype
    return array


cdef NDArrayBase make_view(NDArrayBase base, Shape layout, int64_t offset, object cls):
    """Make an array over another's memory from element `offset` on."""
    cdef NDArrayBase array = <NDArrayBase>mx_new(cls, NO_ARGS)
    array.layout = layout
    array.storage = base.storage
    array.data = base.data + offset * itemsize[base.dtype_code]
    array.dtype_code = base.dtype_code
    array.writable = base.writable
    return array


@cython.c_api_binop_methods(True)
cdef class NDArrayBase:
    """Memory, shape, dtype and tape node; the base of `mx.nd.NDArray`."""

    def __cinit__(self):
        self.writable = True

    def __init__(self, handle=None, writable=True):
        raise TypeError("create arrays with mx.nd.array, mx.nd.zeros and so on, not by the class")

    @property
    def shape(self):
        """Tuple of the dimensions."""
        return self.layout.dims

    @property
    def size(self):
        """Number of elements."""
        return self.layout.size

    @property
    def ndim(self):
        """Number of dimensions."""
        return self.layout.ndim

    @property
    def dtype(self):
        """type: NumPy's scalar type of the elements, such as ``numpy.float32``."""
        return ELEMENT_TYPES[self.dtype_code]

    @property
    def context(self):
        """Device context of the array."""
        return self.storage.context

    @property
    def address(self):
        """Address of the first element (0 for an array without elements)."""
        return <size_t>self.data

    cdef int wait_for(self, int32_t access) except -1:
        if self.storage.var == NULL:
            return 0
        return wait(self.storage.var, access)

    cdef size_t used_bytes(self) noexcept:
        return self.layout.size * itemsize[self.dtype_code]

    def wait_to_read(self):
        """Wait until the elements are computed.

        Raises
        ------
        MXNetError
            Or another exception of the operation that should have computed them.
        """
        self.wait_for(MX_READS)
        if self.storage.device:
            settle_on_device(self, False)

    def wait_to_write(self):
        """Wait until no operation reads or writes the elements; raises like `wait_to_read`."""
        self.wait_for(MX_WRITES)
        if self.storage.device:
            settle_on_device(self, True)

    @property
    def var(self):
        """Address of the memory's engine variable, an mx_var."""
        return <size_t>var_of(self.storage)

    @property
    def failed(self):
        """Whether the operation that should have computed the elements failed."""
        return self.storage.var != NULL and mx_var_failed(self.storage.var) != 0

    @property
    def owner(self):
        """The object that keeps the memory alive, None for pool memory."""
        return self.storage.owner

    @property
    def on_device(self):
        """Whether the host cannot access the memory."""
        return self.storage.device

    def numpy_view(self):
        """Make a NumPy array that shares the memory; bfloat16 as uint16 bits.

        Waits until no operation uses the elements. Callers that keep the NumPy array beyond the
        next operator call and access it must call `export`.
        """
        check_look(self)
        if self.storage.device:
            raise MXNetError(f"the host cannot access the memory of {self.context}: use asnumpy()")
        self.wait_for(MX_WRITES)
        wrote(self.storage)
        return window(self, self.data, self.layout, self.dtype_code, self.writable)

    def read_view(self):
        """Likewise for reading only; a copy for device memory."""
        check_look(self)
        self.wait_for(MX_READS)
        if self.storage.device:
            return services.download(self)
        return window(self, self.data, self.layout, self.dtype_code, False)

    def held_view(self):
        """Like `numpy_view`, for callers that hold the array; see `held`.

        For device memory it is only valid for index computations.
        """
        wrote(self.storage)
        return window(self, self.data, self.layout, self.dtype_code, self.writable)

    def held_read_view(self):
        """Like `read_view`, for callers that hold the array; see `held`."""
        if self.storage.device:
            return services.download(self)
        return window(self, self.data, self.layout, self.dtype_code, False)

    @property
    def version(self):
        """A number that changes with each write to the memory."""
        if self.storage.exported:
            wrote(self.storage)
        return self.storage.version

    def touch(self):
        """Mark the memory as written."""
        wrote(self.storage)

    def export(self):
        """Mark the memory as accessible to others from now on."""
        export(self.storage)

    @property
    def blank(self):
        """Whether the array, created by ``cls.__new__(cls)``, has no memory yet."""
        return self.layout is BLANK

    def become(self, NDArrayBase other not None):
        """Share memory, shape and dtype of another array; for blank arrays in unpickling."""
        if self.layout.size != 0 or other.layout is BLANK:
            raise MXNetError("only a blank array, or one without elements, can become another")
        self.storage, self.data, self.layout = other.storage, other.data, other.layout
        self.dtype_code, self.writable = other.dtype_code, other.writable
        clock.watched += 1  # this array may be watched

    def shares_memory(self, NDArrayBase other):
        """Whether both arrays are views of one storage."""
        return self.storage is other.storage

    def detached(self, cls=None):
        """Make a detached view of the whole array, optionally of another class."""
        return make_view(self, self.layout, 0, class_of(self) if cls is None else cls)

    def view_as(self, tuple shape):
        """Make a detached view with another shape of equal size."""
        cdef Shape layout = shape_of(shape)
        if layout.size != self.layout.size:
            raise MXNetError(f"cannot view shape {self.shape} as {shape}")
        return make_view(self, layout, 0, class_of(self))

    def view_rows(self, int64_t begin, int64_t end):
        """Make a detached view of the rows begin <= row < end of the first axis."""
        cdef int64_t row = 0
        if self.layout.ndim == 0 or not 0 <= begin <= end <= self.layout.extents[0]:
            raise IndexError(f"rows {begin}:{end} are out of bounds for shape {self.shape}")
        if self.layout.extents[0]:
            row = self.layout.size // self.layout.extents[0]
        return make_view(
            self, with_rows(self.layout, end - begin), begin * row, class_of(self)
        )

    def view_bytes(self, int64_t offset, tuple shape, int dtype):
        """Make a detached view with `shape` and `dtype` of the memory from byte `offset` on."""
        cdef Shape layout = shape_of(shape)
        cdef NDArrayBase array
        if offset < 0 or offset + layout.size * itemsize[dtype] > (
            self.layout.size * itemsize[self.dtype_code]
        ):
            raise MXNetError(f"a view of shape {shape} at byte {offset} is out of bounds")
        array = make_view(self, layout, 0, class_of(self))
        array.data += offset
        array.dtype_code = dtype
        return array

    def __len__(self):
        if self.layout.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.layout.extents[0]

    cdef object number(self):
        """The only element as a Python number; None if not simple."""
        if (self.layout is SPARSE or self.layout.size != 1 or not is_quiet(self.storage)
                or (self.node is not None and deferred())
                or mx_profiled(MX_PROFILE_API)):
            return None
        return number_at(self.data, self.dtype_code)

    def __float__(self):
        number = self.number()
        return float(self._number("a float") if number is None else number)

    def __int__(self):
        number = self.number()
        return int(self._number("an integer") if number is None else number)

    def __getitem__(self, key):
        cdef Py_ssize_t start, stop, step
        cdef int64_t rows, row
        if self.node is None and PySlice_Check(key) and self.layout.ndim > 0:
            PySlice_Unpack(key, &start, &stop, &step)
            rows = self.layout.extents[0]
            if step == 1:
                if start < 0:
                    start += rows
                if stop < 0:
                    stop += rows
                elif stop > rows:
                    stop = rows
                # Empty and unusual slices take the slow path.
                if 0 <= start < stop:
                    row = self.layout.size // rows
                    return make_view(
                        self, with_rows(self.layout, stop - start), start * row, class_of(self)
                    )
        return operations.read(self, key)

    def __setitem__(self, key, value):
        operations.write(self, key, value)

    # One C slot serves both operand orders, so derived classes inherit it directly.
    def __add__(lhs, rhs):
        return operations.calculate(0, lhs, rhs)

    def __sub__(lhs, rhs):
        return operations.calculate(1, lhs, rhs)

    def __mul__(lhs, rhs):
        return operations.calculate(2, lhs, rhs)

    def __truediv__(lhs, rhs):
        return operations.calculate(3, lhs, rhs)

    def __mod__(lhs, rhs):
        return operations.calculate(4, lhs, rhs)

    def __pow__(lhs, rhs, modulo):
        return operations.calculate(5, lhs, rhs)

    def __richcmp__(self, other, int comparison):
        cdef int operation
        if comparison == Py_EQ:
            operation = 6
        elif comparison == Py_NE:
            operation = 7
        elif comparison == Py_GT:
            operation = 8
        elif comparison == Py_GE:
            operation = 9
        elif comparison == Py_LT:
            operation = 10
        else:
            operation = 11
        return operations.calculate(operation, self, other)

    def __hash__(self):
        return <size_t><void *>self >> 4

    def __array__(self, dtype=None, copy=None):
        # NumPy tries a buffer first; this raises the reason why there was none.
        self.wait_for(MX_READS)
        values = self.read_view() if self.storage.device else np.asarray(memoryview(self))
        if dtype is not None and values.dtype != dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    def __getbuffer__(self, Py_buffer *view, int flags):
        if self.layout is SPARSE:
            raise BufferError("a sparse array is not a single block of memory")
        check_look(self)
        if self.storage.device:
            raise BufferError(f"the host cannot access the memory of {self.context}")
        if self.writable:
            export(self.storage)
        if self.storage.var != NULL:  # NumPy drops errors raised here, so that they must not end
            settle(self.storage.var, MX_WRITES if self.writable else MX_READS)
            raise_kept(self.storage.var)
        describe(view, self.data, self.layout, self.dtype_code, flags)
        view.obj, view.readonly = self, not self.writable

    def __releasebuffer__(self, Py_buffer *view):
        free(view.internal)


mx_wrap_operators(NDArrayBase)
mx_show_new(NDArrayBase, make_blank)
