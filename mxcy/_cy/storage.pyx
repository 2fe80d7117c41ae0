"""The memory shared by arrays, with its engine variable and version."""
cimport cython

from mxcy._cy.engine cimport mx_var, mx_var_create, mx_var_destroy
from mxcy._cy.homes cimport is_remote
from mxcy._cy.native cimport mx_last_error
from mxcy._cy.pending cimport settle_everything
from mxcy._cy.pool cimport last, look_up, mx_pool_give, mx_pool_take
from mxcy._cy.services cimport services

from mxcy._base.errors import MXNetError


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
    """Return the engine variable of a storage, created at first access."""
    if storage.var == NULL:
        storage.var = mx_var_create()
        if storage.var == NULL:
            raise MXNetError(mx_last_error().decode())
    return storage.var


cdef int place_storage(Storage storage, object context) except -1:
    """Set the context of a new storage."""
    storage.context = context
    if is_remote(context):
        storage.remote, storage.device = True, services.device_memory
        var_of(storage)
    return 0


cdef Storage allocate(size_t bytes, object context):
    """Allocate uninitialised memory of a context's pool; `data` is NULL on failure."""
    cdef Storage storage = Storage.__new__(Storage)
    if last.pool is None or (context is not last.pool.context and context is not last.context):
        look_up(context)
    storage.bytes = bytes
    storage.pool = last.pool.native
    if context is services.default_context:
        storage.context = last.pool.context
    else:
        place_storage(storage, last.pool.context)
    wrote(storage)
    storage.data = mx_pool_take(storage.pool, bytes)
    if storage.data == NULL and bytes:
        if settle_everything() > 0:
            storage.data = mx_pool_take(storage.pool, bytes)
        if storage.data == NULL:
            storage.bytes = 0
    return storage
