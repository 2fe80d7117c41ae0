"""The array type of the Cython front: storage, views, basic slices, the buffer protocol.

Arrays are always C-contiguous.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE
from cpython.buffer cimport PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LT, Py_NE, PyObject
from cpython.slice cimport PySlice_Check, PySlice_Unpack
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython

from mxcy._cy.engine cimport (
    MX_READS, MX_WRITES, mx_var, mx_var_create, mx_var_destroy, mx_var_failed, mx_var_idle,
    mx_var_readable,
)
from mxcy._cy.homes cimport is_remote, is_shared
from mxcy._cy.native cimport (
    MX_BF16, MX_BOOL, MX_F32, MX_F64, MX_I8, MX_I32, MX_I64, MX_U8, mx_last_error,
)
from mxcy._cy.pending cimport settle_everything, wait
from mxcy._cy.pool cimport Pool, mx_pool_give, mx_pool_take, pool_of
from mxcy._cy.profiler cimport MX_PROFILE_API, mx_profiled
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, Shape, shape_of, with_rows

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError, TracedValueError

cdef extern from "Python.h":
    ctypedef object (*newfunc)(object cls, object args, PyObject *kwargs)
    ctypedef struct PyTypeObject:
        newfunc tp_new

cdef extern from *:
    """
    static inline PyObject *mx_new(PyObject *cls, PyObject *no_args) {
      return ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, no_args, NULL);
    }
    """
    object mx_new(object cls, object no_args)

cdef extern from *:
    """
    // Cython stores operators as methods too, which hide their slots: a derived class would look
    // the method up at each call. Slots under wrappers, as Python's own types have, are inherited.
    static int mx_wrap_operators(PyObject *cls) {
      PyTypeObject *type = (PyTypeObject *)cls;
      PyNumberMethods *slots = type->tp_as_number;
      struct { const char *name; binaryfunc slot; } operators[] = {
        {"__add__", slots->nb_add}, {"__sub__", slots->nb_subtract},
        {"__mul__", slots->nb_multiply}, {"__truediv__", slots->nb_true_divide},
        {"__mod__", slots->nb_remainder},
      };
      for (size_t i = 0; i < sizeof operators / sizeof *operators; ++i) {
        PyObject *pattern = PyObject_GetAttrString((PyObject *)&PyFloat_Type, operators[i].name);
        if (pattern == NULL) return -1;
        PyObject *wrapper = PyDescr_NewWrapper(
            type, ((PyWrapperDescrObject *)pattern)->d_base, (void *)operators[i].slot);
        Py_DECREF(pattern);
        if (wrapper == NULL) return -1;
        int failed = PyDict_SetItemString(type->tp_dict, operators[i].name, wrapper);
        Py_DECREF(wrapper);
        if (failed) return -1;
      }
      PyType_Modified(type);
      return 0;
    }
    """
    int mx_wrap_operators(object cls) except -1

cdef extern from *:
    """
    static __thread int mx_deferred = 0;
    """
    int mx_deferred

cdef int32_t itemsize[15]
cdef list FORMATS = [
    b"f", b"d", b"e", b"B", b"i", b"b", b"q", b"?", b"h", b"H", b"I", b"Q", b"H", b"Zf", b"Zd",
]
cdef list ELEMENT_TYPES = [dtypes.type_of(code) for code in range(15)]
cdef int _code
for _code in range(15):
    itemsize[_code] = dtypes.DTYPES[_code].itemsize

cdef tuple NO_ARGS = ()
cdef Arithmetic arithmetic = NULL


cdef object numpy_class = None
cdef object numpy_store = None


cdef int plug_numpy(object cls, object store) except -1:
    global numpy_class, numpy_store
    numpy_class, numpy_store = cls, store
    return 0


cdef object class_of(NDArrayBase array):
    """Which of the two classes of dense arrays what is made of an array has."""
    if numpy_class is not None and type(array) is not services.array_class:
        if isinstance(array, numpy_class):
            return numpy_class
    return services.array_class


cdef void plug_arithmetic(Arithmetic run):
    global arithmetic
    arithmetic = run


cdef int deferred() noexcept nogil:
    """Whether this thread notes down all operations: deferred computation."""
    return mx_deferred


cdef int switch_deferred(bint flag) noexcept nogil:
    global mx_deferred
    cdef int before = mx_deferred
    mx_deferred = flag
    return before


cdef int check_look(NDArrayBase array) except -1:
    """Refuse to show the values of an array that deferred computation has noted down."""
    if mx_deferred and array.node is not None:
        raise TracedValueError("deferred computation: the program looks at the values of an array")
    return 0


cdef Reader read_slice = NULL
cdef Writer write_slice = NULL


cdef void plug_slices(Reader read, Writer write):
    global read_slice, write_slice
    read_slice, write_slice = read, write


# --- storage -------------------------------------------------------------------------------------

@cython.final
@cython.freelist(256)
cdef class Storage:
    """Memory that arrays share: a chunk of the pool, or foreign memory kept alive by its owner."""

    def __dealloc__(self):
        if self.var != NULL:
            mx_var_destroy(self.var)
        if self.owner is None:
            mx_pool_give(self.pool, self.data, self.bytes)


cdef mx_var *var_of(Storage storage) except NULL:
    """The engine's tag of a storage, made when it is first asked for."""
    if storage.var == NULL:
        storage.var = mx_var_create()
        if storage.var == NULL:
            raise MXNetError(mx_last_error().decode())
    return storage.var


cdef bint is_quiet(Storage storage) noexcept:
    """Whether an operation may run on a storage here and now; one with var NULL is always quiet."""
    return storage.var == NULL or (not storage.remote and mx_var_idle(storage.var) != 0)


cdef bint is_readable(Storage storage) noexcept:
    """Whether a storage may be read here and now: others may be reading it."""
    return storage.var == NULL or (not storage.remote and mx_var_readable(storage.var) != 0)


cdef int place_storage(Storage storage, object context) except -1:
    """Note the context of a new storage."""
    storage.context = context
    if is_remote(context):
        storage.remote = True
        var_of(storage)
    return 0


cdef int64_t writes = 0


cdef void wrote(Storage storage) noexcept:
    """Tell that memory was written, or is new."""
    global writes
    writes += 1
    storage.version = writes


cdef class _Export:
    """A buffer of another object, held until the arrays over it are gone."""

    cdef Py_buffer view

    def __cinit__(self, source):
        PyObject_GetBuffer(source, &self.view, PyBUF_ND | PyBUF_WRITABLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef class _Window:
    """The memory of an array as a buffer: without waiting, and without calling it exported."""

    cdef NDArrayBase array
    cdef bint writable

    def __getbuffer__(self, Py_buffer *view, int flags):
        fill_buffer(self.array, view, flags)
        view.obj, view.readonly = self, not self.writable

    def __releasebuffer__(self, Py_buffer *view):
        free(view.internal)


mx_wrap_operators(NDArrayBase)


cdef object window(NDArrayBase array, bint writable):
    """The elements as a NumPy array, right now."""
    cdef _Window found = _Window.__new__(_Window)
    found.array, found.writable = array, writable
    return np.asarray(memoryview(found))


cdef int fill_buffer(NDArrayBase array, Py_buffer *view, int flags) except -1:
    """Describe the memory of an array, all but `view.obj` and `view.readonly`."""
    cdef int i, ndim = array.layout.ndim
    cdef Py_ssize_t stride = itemsize[array.dtype_code]
    cdef Py_ssize_t *extents = <Py_ssize_t *>malloc(16 * max(ndim, 1))
    if extents == NULL:
        raise MemoryError()
    for i in range(ndim - 1, -1, -1):
        extents[i] = array.layout.extents[i]
        extents[ndim + i] = stride
        stride *= max(extents[i], 1)
    view.buf = array.data if array.data != NULL else <void *>extents
    view.len = array.layout.size * itemsize[array.dtype_code]
    view.itemsize = itemsize[array.dtype_code]
    view.format = <char *>(<bytes>FORMATS[array.dtype_code]) if flags & PyBUF_FORMAT else NULL
    view.ndim = ndim
    view.shape = extents
    view.strides = extents + ndim
    view.suboffsets = NULL
    view.internal = extents
    return 0


cdef object number_at(const char *data, int dtype):
    """An element as a Python number; None where Python has no such type."""
    if dtype == MX_F32:
        return (<const float *>data)[0]
    if dtype == MX_F64:
        return (<const double *>data)[0]
    if dtype == MX_I32:
        return (<const int32_t *>data)[0]
    if dtype == MX_I64:
        return (<const int64_t *>data)[0]
    if dtype == MX_U8:
        return (<const uint8_t *>data)[0]
    if dtype == MX_I8:
        return (<const int8_t *>data)[0]
    if dtype == MX_BOOL:
        return data[0] != 0
    return None


cdef NDArrayBase make_array(Shape layout, int dtype, object context, object cls):
    """A new array over uninitialised memory of the pool."""
    cdef NDArrayBase array
    cdef bint unusual = context is not services.default_context
    if unusual and layout.size and is_shared(context):
        array = <NDArrayBase>services.shared_array(layout.dims, dtype, context)
        return array if type(array) is cls else make_view(array, layout, 0, cls)
    array = <NDArrayBase>mx_new(cls, NO_ARGS)
    cdef Storage storage = Storage.__new__(Storage)
    cdef Pool pool = pool_of(context)
    storage.bytes = layout.size * itemsize[dtype]
    storage.pool = pool.native
    if unusual:
        place_storage(storage, pool.context)
    else:
        storage.context = pool.context
    wrote(storage)
    storage.data = mx_pool_take(pool.native, storage.bytes)
    if storage.data == NULL and storage.bytes and settle_everything() > 0:
        storage.data = mx_pool_take(pool.native, storage.bytes)
    if storage.data == NULL and storage.bytes:
        storage.bytes = 0
        raise MXNetError(f"{mx_last_error().decode()}, for shape {layout.dims}")
    array.storage = storage
    array.data = <char *>storage.data
    array.layout = layout
    array.dtype_code = dtype
    return array


cdef NDArrayBase make_view(NDArrayBase base, Shape layout, int64_t offset, object cls):
    """An array over the memory of another from element `offset` on; of None: over no memory."""
    cdef NDArrayBase array = <NDArrayBase>mx_new(cls, NO_ARGS)
    array.layout = layout
    if base is not None:
        array.storage = base.storage
        array.data = base.data + offset * itemsize[base.dtype_code]
        array.dtype_code = base.dtype_code
        array.writable = base.writable
    return array


def empty(tuple shape, int dtype, context, cls=None):
    """An array with uninitialised elements, of `mx.nd` unless a class is given."""
    return make_array(
        shape_of(shape), dtype, context, services.array_class if cls is None else cls
    )


def make_sparse(NDArrayBase array not None, int dtype, context):
    """Make a blank array, of a class of sparse arrays, one whose elements lie in other arrays."""
    cdef Storage storage = Storage.__new__(Storage)
    cdef Pool pool = pool_of(context)
    storage.pool = pool.native
    storage.context = pool.context
    wrote(storage)
    array.storage, array.layout, array.dtype_code = storage, SPARSE, dtype


def from_memory(size_t address, owner not None, tuple shape, int dtype, context):
    """An array over memory at an address, which `owner` keeps alive."""
    cdef NDArrayBase array = <NDArrayBase>mx_new(services.array_class, NO_ARGS)
    cdef Storage storage = Storage.__new__(Storage)
    storage.data, storage.owner, storage.context = <void *>address, owner, context
    wrote(storage)
    array.storage, array.data = storage, <char *>storage.data
    array.layout, array.dtype_code = shape_of(shape), dtype
    storage.bytes = array.used_bytes()
    return array


def from_numpy(source, int dtype, context, bint copy=True, cls=None):
    """An array with the elements of a C-contiguous NumPy array of the dtype's NumPy type.

    With ``copy=False`` it shares the memory, which has to be writable.
    """
    cdef _Export export
    cdef NDArrayBase array
    cdef Storage storage
    cdef const unsigned char[::1] octets
    if copy:
        array = make_array(
            shape_of(source.shape), dtype, context, services.array_class if cls is None else cls
        )
        if array.layout.size:
            octets = source.reshape(-1).view("uint8")
            memcpy(array.data, &octets[0], array.layout.size * itemsize[dtype])
        return array
    export = _Export(source.view("uint16") if dtype == MX_BF16 else source)
    storage = Storage.__new__(Storage)
    storage.data, storage.bytes, storage.owner = export.view.buf, export.view.len, export
    storage.exported = True
    place_storage(storage, context)
    wrote(storage)
    array = <NDArrayBase>mx_new(services.array_class if cls is None else cls, NO_ARGS)
    array.storage, array.data = storage, <char *>export.view.buf
    array.layout, array.dtype_code = shape_of(source.shape), dtype
    return array


# --- arrays --------------------------------------------------------------------------------------

@cython.c_api_binop_methods(True)
cdef class NDArrayBase:
    """Memory, shape, element type and place on the tape; `mx.nd.NDArray` derives from it."""

    def __cinit__(self):
        self.writable = True

    def __init__(self, handle=None, writable=True):
        # Arrays are made by tp_new alone; one without memory must not get into a program's hands.
        raise TypeError("an NDArray is not made by its class, but by mx.nd.array, mx.nd.zeros ...")

    @property
    def shape(self):
        """Tuple of the extents."""
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
            Or what else the operation failed with that should have computed them.
        """
        self.wait_for(MX_READS)

    def wait_to_write(self):
        """Wait until nothing reads or writes the elements any more; raises like `wait_to_read`."""
        self.wait_for(MX_WRITES)

    @property
    def var(self):
        """Address of the engine's tag of the memory, an mx_var."""
        return <size_t>var_of(self.storage)

    @property
    def failed(self):
        """Whether the operation failed that should have computed the elements."""
        return self.storage.var != NULL and mx_var_failed(self.storage.var) != 0

    @property
    def owner(self):
        """What keeps the memory alive, None when it is the pool's."""
        return self.storage.owner

    def numpy_view(self):
        """The elements as a NumPy array that shares the memory; bfloat16 as uint16 bits.

        It waits until nothing uses them. Whoever keeps the NumPy array beyond the next call of an
        operator, and reads or writes it, calls `export`.
        """
        check_look(self)
        self.wait_for(MX_WRITES)
        wrote(self.storage)
        return window(self, self.writable)

    def read_view(self):
        """The same for reading only."""
        check_look(self)
        self.wait_for(MX_READS)
        return window(self, False)

    def held_view(self):
        """What `numpy_view` returns, for those who hold the array; see `held`."""
        wrote(self.storage)
        return window(self, self.writable)

    def held_read_view(self):
        """What `read_view` returns, for those who hold the array; see `held`."""
        return window(self, False)

    @property
    def version(self):
        """A number that changes with each write to the memory."""
        if self.storage.exported:
            wrote(self.storage)
        return self.storage.version

    def touch(self):
        """Tell that the memory was written."""
        wrote(self.storage)

    def export(self):
        """Tell that others may read and write the memory from now on."""
        self.storage.exported = True

    @property
    def blank(self):
        """Whether the array, fresh from ``cls.__new__(cls)``, has no memory yet."""
        return self.layout is None

    def become(self, NDArrayBase other not None):
        """Share memory, shape and type of another array, as an unpickled, still blank one must."""
        if (self.layout is not None and self.layout.size != 0) or other.layout is None:
            raise MXNetError("only a blank array, or one without elements, can become another")
        self.storage, self.data, self.layout = other.storage, other.data, other.layout
        self.dtype_code, self.writable = other.dtype_code, other.writable

    def shares_memory(self, NDArrayBase other):
        """Whether both arrays are views of one storage."""
        return self.storage is other.storage

    def detached(self, cls=None):
        """A view of the whole array, of its class or another, that is not on the tape."""
        return make_view(self, self.layout, 0, class_of(self) if cls is None else cls)

    def view_as(self, tuple shape):
        """A view with another shape of as many elements, not on the tape."""
        cdef Shape layout = shape_of(shape)
        if layout.size != self.layout.size:
            raise MXNetError(f"cannot view shape {self.shape} as {shape}")
        return make_view(self, layout, 0, class_of(self))

    def view_rows(self, int64_t begin, int64_t end):
        """A view of the rows begin <= row < end of the first axis, not on the tape."""
        cdef int64_t row = 0
        if self.layout.ndim == 0 or not 0 <= begin <= end <= self.layout.extents[0]:
            raise IndexError(f"rows {begin}:{end} are out of bounds for shape {self.shape}")
        if self.layout.extents[0]:
            row = self.layout.size // self.layout.extents[0]
        return make_view(
            self, with_rows(self.layout, end - begin), begin * row, class_of(self)
        )

    def view_bytes(self, int64_t offset, tuple shape, int dtype):
        """A view of `shape` and `dtype` of the memory from byte `offset` on, not on the tape."""
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
        """The only element as a Python number; None where that is not simple."""
        if (self.layout is SPARSE or self.layout.size != 1 or not is_quiet(self.storage)
                or (mx_deferred and self.node is not None)
                or mx_profiled(MX_PROFILE_API)):
            return None
        return number_at(self.data, self.dtype_code)

    def __float__(self):
        found = self.number()
        return float(self._number("a float") if found is None else found)

    def __int__(self):
        found = self.number()
        return int(self._number("an integer") if found is None else found)

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
                # Empty and odd slices go the long way, where their rules are.
                if 0 <= start < stop:
                    row = self.layout.size // rows
                    return make_view(
                        self, with_rows(self.layout, stop - start), start * row, class_of(self)
                    )
        return read_slice(self, key)

    def __setitem__(self, key, value):
        write_slice(self, key, value)

    # One C slot serves both operand orders, so that derived classes inherit it without a detour.
    def __add__(lhs, rhs):
        return arithmetic(0, lhs, rhs)

    def __sub__(lhs, rhs):
        return arithmetic(1, lhs, rhs)

    def __mul__(lhs, rhs):
        return arithmetic(2, lhs, rhs)

    def __truediv__(lhs, rhs):
        return arithmetic(3, lhs, rhs)

    def __mod__(lhs, rhs):
        return arithmetic(4, lhs, rhs)

    def __pow__(lhs, rhs, modulo):
        return arithmetic(5, lhs, rhs)

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
        return arithmetic(operation, self, other)

    def __hash__(self):
        return <size_t><void *>self >> 4

    def __array__(self, dtype=None, copy=None):
        # NumPy asks for a buffer first, and here for the reason why there was none.
        values = np.asarray(memoryview(self))
        if dtype is not None and values.dtype != dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    def __getbuffer__(self, Py_buffer *view, int flags):
        if self.layout is SPARSE:
            raise BufferError("a sparse array is no single piece of memory")
        check_look(self)
        if self.writable:
            self.storage.exported = True
        self.wait_for(MX_WRITES if self.writable else MX_READS)
        fill_buffer(self, view, flags)
        view.obj, view.readonly = self, not self.writable

    def __releasebuffer__(self, Py_buffer *view):
        free(view.internal)


mx_wrap_operators(NDArrayBase)
