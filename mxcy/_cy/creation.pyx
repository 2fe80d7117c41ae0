"""Arrays over new memory, given addresses, and NumPy arrays."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from mxcy._cy.buffers cimport Export
from mxcy._cy.elements cimport itemsize
from mxcy._cy.native cimport MX_BF16
from mxcy._cy.ndarray cimport NDArrayBase, bare, class_of, make_array, make_view
from mxcy._cy.pool cimport Pool, pool_of
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, shape_of
from mxcy._cy.storage cimport Storage, place_storage, wrote


def empty(tuple shape, int dtype, context, cls=None):
    """Allocate an uninitialised array, of `mx.nd` unless a class is given."""
    return make_array(
        shape_of(shape), dtype, context, services.array_class if cls is None else cls
    )


def make_sparse(NDArrayBase array not None, int dtype, context):
    """Initialise a blank array of a sparse class, whose elements are in other arrays."""
    cdef Storage storage = Storage.__new__(Storage)
    cdef Pool pool = pool_of(context)
    storage.pool = pool.native
    storage.context = pool.context
    wrote(storage)
    array.storage, array.layout, array.dtype_code = storage, SPARSE, dtype


def from_memory(
    size_t address, owner not None, tuple shape, int dtype, context, bint replaceable=False
):
    """Make an array over memory at an address, which `owner` keeps alive.

    `replaceable` memory has no other users, so the array may later use other memory.
    """
    cdef NDArrayBase array = bare(services.array_class)
    cdef Storage storage = Storage.__new__(Storage)
    storage.data, storage.owner, storage.context = <void *>address, owner, context
    storage.replaceable = replaceable
    storage.device = services.device_memory and context.device_type == "gpu"
    wrote(storage)
    array.storage, array.data = storage, <char *>storage.data
    array.layout, array.dtype_code = shape_of(shape), dtype
    storage.bytes = array.used_bytes()
    return array


def from_numpy(source, int dtype, context, bint copy=True, cls=None):
    """Make an array from a C-contiguous NumPy array of the corresponding dtype.

    With ``copy=False`` it shares the memory, which must be writable and on the host.
    """
    cdef Export export
    cdef NDArrayBase array
    cdef Storage storage
    cdef const unsigned char[::1] octets
    if copy:
        array = make_array(
            shape_of(source.shape), dtype, context, services.array_class if cls is None else cls
        )
        if array.storage.device:
            services.upload(array, source)
        elif array.layout.size:
            octets = source.reshape(-1).view("uint8")
            memcpy(array.data, &octets[0], array.layout.size * itemsize[dtype])
        return array
    export = Export(source.view("uint16") if dtype == MX_BF16 else source)
    storage = Storage.__new__(Storage)
    storage.data, storage.bytes, storage.owner = export.view.buf, export.view.len, export
    storage.exported = True
    place_storage(storage, services.default_context if services.device_memory else context)
    wrote(storage)
    array = bare(services.array_class if cls is None else cls)
    array.storage, array.data = storage, <char *>export.view.buf
    array.layout, array.dtype_code = shape_of(source.shape), dtype
    return array


def detach_parts(values, list positions, list shapes, list codes, int64_t[::1] addresses):
    """Make detached views of some arrays; None unless all match.

    Arrays match if they are dense, have the given shapes and dtypes, and are in host memory; a list
    of a single array may stand for it. Their addresses are written to `addresses`, if not None.
    """
    cdef NDArrayBase array
    cdef Py_ssize_t i
    cdef object one, context = None
    cdef list views = []
    for i in range(len(positions)):
        one = values[positions[i]]
        if isinstance(one, (list, tuple)) and len(one) == 1:
            one = one[0]
        if not isinstance(one, NDArrayBase):
            return None
        array = <NDArrayBase>one
        if array.layout is SPARSE or array.dtype_code != <int>codes[i]:
            return None
        if array.layout.dims != <tuple>shapes[i]:
            return None
        if array.storage.context is not context:
            context = array.storage.context
            if array.storage.device or context.device_typeid != 1:
                return None
        views.append(make_view(array, array.layout, 0, class_of(array)))
        if addresses is not None:
            addresses[i] = <size_t>array.data
    return views
