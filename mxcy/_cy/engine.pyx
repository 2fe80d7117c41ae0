"""The dependency engine: variables, Python functions as operations, waiting, settings.

Requests are made with the GIL held, so what is idle remains idle until the GIL is released; waiting
releases it and checks for signals periodically.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport cython

from mxcy._cy.native cimport mx_fail, mx_last_error

from mxcy._base.errors import MXNetError, kernel_error

cdef enum:
    SLICE = 50  # milliseconds between checks for signals

cdef tuple TYPES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
cdef dict PROPERTIES = {
    "normal": MX_OP_NORMAL, "copy_from": MX_OP_COPY_FROM, "copy_to": MX_OP_COPY_TO,
    "prioritized": MX_OP_PRIORITIZED, "async": MX_OP_ASYNC, "noskip": MX_OP_NOSKIP,
}

cdef struct Chosen:
    bint naive  # operations run synchronously

cdef Chosen chosen
chosen.naive = False


cdef bint is_naive() noexcept:
    return chosen.naive


# --- waiting -------------------------------------------------------------------------------------

cdef int raise_stored() except -1:
    raise kernel_error("", mx_last_error().decode(errors="replace"))


cdef int wait_var(mx_var *var, int32_t access) except -1:
    cdef int status = 1
    if var == NULL or mx_var_idle(var):
        return 0
    while True:
        with nogil:
            status = mx_engine_wait(var, access, SLICE)
        if status < 0:
            raise_stored()
        if status == 0:
            return 0
        PyErr_CheckSignals()


cdef int raise_kept(mx_var *var) except -1:
    """Raise the error of a variable, if any, which keeps it."""
    cdef int32_t access = MX_READS
    cdef int status
    if not mx_var_failed(var):
        return 0
    with nogil:
        status = mx_engine_enter(&var, &access, 1, -1)
    if status < 0:
        raise_stored()
    mx_engine_leave(&var, &access, 1, NULL)  # it has ended meanwhile
    return 0


cdef int settle_var(mx_var *var, int32_t access) except -1:
    cdef int status = 1
    if var == NULL or mx_var_idle(var):
        return 0
    while True:
        with nogil:
            status = mx_engine_settle(var, access, SLICE)
        if status < 0:
            raise_stored()
        if status == 0:
            return 0
        PyErr_CheckSignals()


cdef int wait_everything() except -1:
    cdef int status
    while True:
        with nogil:
            status = mx_engine_wait_all(SLICE)
        if status < 0:
            raise_stored()
        if status == 0:
            return 0
        PyErr_CheckSignals()


def wait_all():
    """Wait for all operations; raise the first error not raised yet."""
    wait_everything()


def wait_for(size_t var, int access):
    """Wait for the writers (access 1) or all users (2) of the variable at an address."""
    wait_var(<mx_var *>var, access)


# --- variables -----------------------------------------------------------------------------------

@cython.final
cdef class Var:
    """An engine variable other than an array.

    Attributes
    ----------
    var : int
        Address of the variable in the engine.
    """

    cdef mx_var *address

    def __cinit__(self):
        self.address = mx_var_create()
        if self.address == NULL:
            raise_stored()

    def __dealloc__(self):
        mx_var_destroy(self.address)

    @property
    def var(self):
        return <size_t>self.address

    @property
    def idle(self):
        """Whether no operation uses it, waits for it or left an error on it."""
        return mx_var_idle(self.address) != 0

    @property
    def failed(self):
        """Whether it carries an error."""
        return mx_var_failed(self.address) != 0

    @property
    def version(self):
        """The number of writes."""
        return mx_var_version(self.address)

    def wait_to_read(self):
        """Wait for its writers; raise its error."""
        wait_var(self.address, MX_READS)

    def wait_to_write(self):
        """Wait for all its users; raise its error."""
        wait_var(self.address, MX_WRITES)


# --- Python functions as operations --------------------------------------------------------------

@cython.final
cdef class Completion:
    """Callback passed to an asynchronous function, to be called upon completion."""

    cdef mx_ticket *ticket

    def __call__(self, error=None):
        """Complete the operation, with an error text if it failed."""
        cdef mx_ticket *ticket = self.ticket
        cdef bytes text
        if ticket == NULL:
            raise MXNetError("the operation is already complete")
        self.ticket = NULL
        if error is None:
            mx_engine_complete(ticket, NULL)
        else:
            text = str(error).encode()
            mx_engine_complete(ticket, text)

    def __dealloc__(self):
        if self.ticket != NULL:
            mx_engine_complete(self.ticket, "its completion callback was discarded")


cdef int tell_failure(error) noexcept:
    """Set this thread's error text to an exception."""
    cdef bytes text
    try:
        kind = "" if type(error) is MXNetError else f"{type(error).__name__}: "
        text = f"{kind}{error}".encode()
    except BaseException:
        text = b"an exception without a text"
    return mx_fail("%s", <const char *>text)


cdef int run_function(void *payload) noexcept with gil:
    cdef tuple job = <tuple>payload
    Py_DECREF(job)
    try:
        job[0]()
    except BaseException as error:
        return tell_failure(error)
    return 0


cdef int run_asynchronous(void *payload) noexcept with gil:
    cdef tuple job = <tuple>payload
    cdef Completion completion = Completion.__new__(Completion)
    completion.ticket = mx_engine_ticket()
    Py_DECREF(job)
    try:
        job[0](completion)
    except BaseException as error:
        if completion.ticket == NULL:  # already completed
            return 0
        completion.ticket = NULL
        return tell_failure(error)
    return 0


cdef void drop_function(void *payload) noexcept with gil:
    Py_DECREF(<tuple>payload)


def push(function, list reads, list writes, str name, str place, int priority, str property,
         int device_type, int device_id):
    """Schedule a function to run after preceding operations on the same variables.

    Parameters
    ----------
    function : callable
        Called without arguments, or with a `Completion` for property ``'async'``.
    reads, writes : list
        Arrays and `Var` objects, by their attribute `var`.
    name, place : str
        Name in errors, and location of the call.
    priority : int
    property : str
        A key of `PROPERTIES`.
    device_type, device_id : int
    """
    cdef mx_operation operation
    cdef int i, status, count = len(reads) + len(writes)
    cdef bytes title = name.encode()
    cdef bytes where = place.encode()
    cdef mx_var **vars = <mx_var **>malloc(max(count, 1) * sizeof(mx_var *))
    cdef int32_t *access = <int32_t *>malloc(max(count, 1) * sizeof(int32_t))
    cdef tuple job = (function, reads, writes)
    try:
        if vars == NULL or access == NULL:
            raise MemoryError()
        for i, used in enumerate(reads + writes):
            vars[i] = <mx_var *><size_t>used.var
            access[i] = MX_READS if i < len(reads) else MX_WRITES
        operation.run, operation.skipped = run_function, drop_function
        operation.payload, operation.release = <void *>job, NULL
        operation.property = PROPERTIES[property]
        if operation.property == MX_OP_ASYNC:
            operation.run = run_asynchronous
        operation.token, operation.priority = 0, priority
        operation.name, operation.place = title, where
        operation.vars, operation.access, operation.nvars = vars, access, count
        operation.device_type, operation.device_id = device_type, device_id
        Py_INCREF(job)
        # It may run here, which requires draining.
        if chosen.naive or operation.property == MX_OP_ASYNC:
            with nogil:
                status = mx_engine_push(&operation)
        else:
            status = mx_engine_push(&operation)
        if status != 0:
            raise_stored()
    finally:
        free(vars)
        free(access)


# --- settings ------------------------------------------------------------------------------------

def configure_engine(str kind, int workers, int priority_workers, int gpu_workers,
                     int gpu_copy_workers, bint info):
    """Set the engine type, a member of `TYPES`, and the thread counts of its queues."""
    cdef mx_engine_settings settings
    cdef int status
    settings.type = TYPES.index(kind)
    settings.workers, settings.priority_workers = workers, priority_workers
    settings.gpu_workers, settings.gpu_copy_workers = gpu_workers, gpu_copy_workers
    settings.info = info
    with nogil:
        status = mx_engine_configure(&settings)
    if status != 0:
        raise_stored()
    chosen.naive = settings.type == MX_NAIVE_ENGINE


def engine_stats():
    """Return settings and statistics of the engine as a dict."""
    cdef mx_engine_counts counts
    cdef char name[32]
    cdef int32_t threads
    cdef int64_t done
    mx_engine_stats(&counts)
    queues = {}
    while mx_engine_queue(len(queues), name, &threads, &done):
        queues[(<bytes>name).decode()] = {"threads": threads, "run": done}
    return {
        "type": TYPES[counts.settings.type],
        "workers": counts.settings.workers,
        "cpu_priority": counts.settings.priority_workers,
        "gpu_workers": counts.settings.gpu_workers,
        "gpu_copy": counts.settings.gpu_copy_workers,
        "info": bool(counts.settings.info),
        "threads": counts.threads,
        "pushed": counts.pushed,
        "run": counts.run,
        "inline": counts.inlined,
        "skipped": counts.skipped,
        "failed": counts.failed,
        "pending": counts.pending,
        "bulks": counts.bulks,
        "bulked": counts.bulked,
        "errors": counts.errors,
        "queues": queues,
    }


def set_bulk_size(int size):
    """Set the bulk size of this thread; return the previous one."""
    return mx_engine_set_bulk(size)


def allow_bulk(bint allow):
    """Enable or disable bulking."""
    mx_engine_allow_bulk(allow)


def stop_engine():
    """Finish pushed operations, stop all workers and block new operations; for fork and exit."""
    cdef int status = 1
    while status == 1:
        with nogil:
            status = mx_engine_stop(SLICE)
        if status == 0:  # no operation may have been pushed while waiting for the GIL
            status = mx_engine_stop(0)
        PyErr_CheckSignals()


def start_engine(bint child):
    """Restart after `stop_engine`; `child`: in the forked process."""
    mx_engine_start(child)
