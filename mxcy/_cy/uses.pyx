"""The storages that an operation reads and writes, and the two ways to run it: hold or push.

To hold storages means to run the operation on this thread; to push leaves it to the engine. All
requests are made with the GIL held. So an idle storage remains idle until the GIL is released, and
small operations on idle storages need not involve the engine.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython

from mxcy._cy.engine cimport (
    MX_OP_COPY_FROM, MX_OP_COPY_TO, MX_OP_NORMAL, MX_READS, MX_WRITES, is_naive,
    mx_engine_enter, mx_engine_leave, mx_engine_on_worker, mx_operation, mx_var, mx_var_failed,
    mx_var_idle,
)
from mxcy._cy.native cimport mx_last_error
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.pending cimport counts, forget, keep, mx_push_nothing, settle, wait
from mxcy._cy.storage cimport Storage, is_quiet, is_readable, var_of

from mxcy._base.errors import MXNetError, caller, kernel_error, stored_text

cdef enum:
    SMALL_BYTES = 500  # NumPy keeps the GIL for smaller arrays


limits.heavy_work = 4000000


def set_heavy_work(int64_t work):
    """Set the work, in elementwise steps, from which calls are pushed to the engine."""
    limits.heavy_work = work


cdef Uses uses_on(object context):
    """Make an empty Uses on a context."""
    cdef Uses uses = Uses.__new__(Uses)
    uses.context = context
    return uses


@cython.final
@cython.freelist(16)
@cython.no_gc_clear  # for __dealloc__
cdef class Uses:
    """The storages that an operation reads and writes."""

    def __cinit__(self):
        self.vars, self.access, self.room = self.few_vars, self.few_access, FEW
        self.kept = []
        self.quiet, self.strict = True, is_naive()

    def __dealloc__(self):
        cdef Storage storage
        for kept in self.kept:
            if type(kept) is Storage:
                storage = kept
                storage.uses -= 1
                if storage.counted and not storage.uses:
                    storage.counted = False
                    counts.bytes -= storage.bytes
        if self.vars != self.few_vars:
            free(self.vars)
            free(self.access)

    cdef int add(self, Storage storage, int32_t access) except -1:
        """Add a use of a storage."""
        cdef bint idle = is_quiet(storage) if access & MX_WRITES else is_readable(storage)
        self.quiet = self.quiet and idle
        self.exported = self.exported or storage.exported
        self.device = self.device or storage.device
        if access & MX_WRITES and not storage.begun:
            storage.begun = storage.counted = self.allocates = True
            counts.bytes += storage.bytes
        self.kept.append(storage)
        storage.uses += 1
        return self.add_var(var_of(storage), access)

    cdef int add_var(self, mx_var *var, int32_t access) except -1:
        """Add a use of an engine variable."""
        cdef mx_var **vars
        cdef int32_t *accesses
        if self.count == self.room:
            vars = <mx_var **>malloc(2 * self.room * sizeof(mx_var *))
            accesses = <int32_t *>malloc(2 * self.room * sizeof(int32_t))
            if vars == NULL or accesses == NULL:
                free(vars)
                free(accesses)
                raise MemoryError()
            memcpy(vars, self.vars, self.count * sizeof(mx_var *))
            memcpy(accesses, self.access, self.count * sizeof(int32_t))
            if self.vars != self.few_vars:
                free(self.vars)
                free(self.access)
            self.vars, self.access, self.room = vars, accesses, 2 * self.room
        self.vars[self.count], self.access[self.count] = var, access
        self.count += 1
        return 0

    cdef int add_output(self, NDArrayBase array) except -1:
        """Add an array as output."""
        cdef Storage storage = array.storage
        # A partial write depends on the rest of the contents.
        cdef bint whole = array.used_bytes() >= storage.bytes
        self.target = storage.context
        return self.add(storage, MX_WRITES if whole else MX_READS | MX_WRITES)

    cdef bint hold(self) except -1:
        """Wait for and hold all storages; False if an input has an error."""
        cdef int i, status = 1
        self.nested = mx_engine_on_worker() != 0
        self.strict = self.strict or self.nested
        while status == 1:
            for i in range(self.count):
                if not mx_var_idle(self.vars[i]):
                    settle(self.vars[i], MX_WRITES if self.access[i] & MX_WRITES else MX_READS)
            for i in range(self.count):
                if self.access[i] & MX_READS and mx_var_failed(self.vars[i]):
                    return False
            if self.nested:
                return True
            status = mx_engine_enter(self.vars, self.access, self.count, 0)
        return status == 0

    cdef int raise_error(self) except -1:
        """Raise the error of an input, after `hold` returned False; the input keeps it."""
        cdef int status
        with nogil:
            status = mx_engine_enter(self.vars, self.access, self.count, -1)
        if status < 0:
            raise kernel_error("", mx_last_error().decode(errors="replace"))
        self.release()
        raise MXNetError("an operation lost its inputs to another thread")

    cdef void release(self) noexcept nogil:
        """End a hold."""
        if not self.nested:
            mx_engine_leave(self.vars, self.access, self.count, NULL)

    cdef int fail(self, error) except -1:
        """Release with an error, raised here or, otherwise, when the outputs are awaited."""
        if self.strict:
            self.release()
            raise error
        text = stored_text(error).encode()
        mx_engine_leave(self.vars, self.access, self.count, <const char *>(<bytes>text))
        return 0

    cdef int describe(self, mx_operation *about, str name) except -1:
        """Describe an operation to be pushed next; must be followed by `pushed`."""
        cdef int i
        cdef mx_var *written = NULL
        source, target = self.context, self.target
        about.property = MX_OP_NORMAL
        if target is not None and target is not source and target != source:
            if target.device_type == "gpu":
                source, about.property = target, MX_OP_COPY_TO
            elif source.device_type == "gpu":
                about.property = MX_OP_COPY_FROM
        about.device_type, about.device_id = source.device_typeid, source.device_id
        about.priority = 0
        about.vars, about.access, about.nvars = self.vars, self.access, self.count
        self.name = None if name is None else name.encode()
        self.place = caller().encode()
        about.name = NULL
        if name is not None:
            about.name = <const char *>self.name
        about.place = self.place
        for i in range(self.count):
            if self.access[i] & MX_WRITES:
                written = self.vars[i]
        about.token = keep(self, written, self.allocates)
        return 0

    cdef int pushed(self, const mx_operation *about, int status) except -1:
        """Process the result of pushing."""
        if status != 0:
            error = kernel_error("", mx_last_error().decode())
            forget(about.token)
            raise error
        return 0

    cdef int hand_on(self) except -1:
        """Propagate the inputs' error to the outputs, after `hold` returned False."""
        cdef mx_operation about
        if self.strict:
            return self.raise_error()
        self.describe(&about, None)
        return self.pushed(&about, mx_push_nothing(&about))


@cython.final
cdef class held:
    """Hold arrays while NumPy uses their memory: ``with held(reads, writes): ...``.

    Parameters
    ----------
    reads, writes : tuple of NDArrayBase
    whole : bool
        Whether `writes` are completely overwritten, so that their errors are ignored.

    Raises
    ------
    MXNetError
        Or another exception of an operation that should have computed the arrays.
    """

    cdef Uses uses

    def __init__(self, tuple reads=(), tuple writes=(), bint whole=False):
        cdef NDArrayBase array
        cdef bint small = True
        cdef Uses uses
        for array in reads + writes:
            small = small and is_quiet(array.storage) and array.used_bytes() < SMALL_BYTES
        if small:
            return
        self.uses = uses = uses_on(None)
        for array in reads:
            uses.add(array.storage, MX_READS)
        for array in writes:
            uses.add(array.storage, MX_READS | MX_WRITES)
            if whole and array.used_bytes() >= array.storage.bytes:
                uses.access[uses.count - 1] = MX_WRITES

    def __enter__(self):
        cdef int i
        if self.uses is None or self.uses.hold():
            return
        for i in range(self.uses.count):
            if self.uses.access[i] == MX_READS:
                wait(self.uses.vars[i], MX_READS)
        if not self.uses.hold():
            self.uses.raise_error()

    def __exit__(self, *error):
        if self.uses is not None:
            self.uses.release()
