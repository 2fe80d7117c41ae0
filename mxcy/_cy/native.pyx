"""The native library: initialisation, threads, kernel table."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cimport cython

from mxcy._cy.native cimport (
    mx_call, mx_init, mx_isa, mx_kernel_find, mx_kernel_query, mx_kernel_race, mx_kernel_time,
    mx_last_error, mx_region_time, mx_second_cache, mx_set_threads, mx_tensor, mx_threads,
    mx_threads_for,
)

from mxcy._base.errors import MXNetError

cdef extern from "mxcy_denormals.h" nogil:
    int32_t mx_flush_denormals(int32_t flush)

cdef dict QUERIES = {"accepts": 0, "workspace": 1, "packed": 2, "format": 3}


def initialise(int isa, int threads, long parallel_size):
    """Initialise the native library; see mx_init in mxcy.h."""
    if mx_init(isa, threads, parallel_size) != 0:
        raise MXNetError(mx_last_error().decode())


def set_threads(int threads):
    """Set the size of the parallel team; return the previous size."""
    cdef int before = mx_threads()
    if threads < 1:
        raise ValueError(f"the number of threads must be positive, got {threads}")
    mx_set_threads(threads)
    return before


def flush_denormals(flush):
    """Flush denormal numbers to zero or not; return the previous state."""
    return bool(mx_flush_denormals(bool(flush)))


def threads():
    """The size of the parallel team."""
    return mx_threads()


def block():
    """The number of channels per block: the number of floats in a vector register."""
    return 16 if mx_isa() >= 4 else 8


def has_kernel(str name, int dtype):
    """Whether the kernel table contains `name` for a dtype."""
    return mx_kernel_find(name.encode(), dtype, NULL) != NULL


@cython.final
cdef class _Question:
    """An mx_call that describes a signature without data."""

    cdef mx_call call
    cdef mx_tensor *tensors
    cdef int64_t *extents
    cdef bytes params

    def __init__(self, bytes params, list ins, list outs):
        cdef int i, j = 0, total = 0
        specs = ins + outs
        for spec in specs:
            total += len(spec.shape)
        self.tensors = <mx_tensor *>malloc(max(len(specs), 1) * sizeof(mx_tensor))
        self.extents = <int64_t *>malloc(max(total, 1) * sizeof(int64_t))
        if self.tensors == NULL or self.extents == NULL:
            raise MemoryError()
        for i, spec in enumerate(specs):
            self.tensors[i].data, self.tensors[i].strides = NULL, NULL
            self.tensors[i].shape = self.extents + j
            self.tensors[i].ndim, self.tensors[i].dtype = len(spec.shape), spec.dtype
            for extent in spec.shape:
                self.extents[j] = extent
                j += 1
        memset(&self.call, 0, sizeof(mx_call))
        self.call.nin, self.call.nout = len(ins), len(outs)
        self.call.inputs, self.call.outputs = self.tensors, self.tensors + len(ins)
        self.params = params
        if params is not None:
            self.call.params = <const char *>self.params

    def __dealloc__(self):
        free(self.tensors)
        free(self.extents)


def query(str name, bytes params, list ins, list outs, str what):
    """Query a kernel about a signature.

    Parameters
    ----------
    name : str
    params : bytes or None
        The parameter struct.
    ins, outs : list of Spec
    what : {'accepts', 'workspace', 'packed', 'format'}
        Whether the kernel accepts (None, or the reason for rejecting); size of the workspace; size
        and id of its own weight layout.
    """
    cdef _Question question = _Question(params, ins, outs)
    cdef int64_t answer = mx_kernel_query(name.encode(), &question.call, QUERIES[what])
    if what == "accepts":
        return None if answer == 1 else mx_last_error().decode()
    if answer < 0:
        raise MXNetError(mx_last_error().decode())
    return answer


def measure(str name, int dtype, bytes params, list ins, list outs, size_t workspace, int64_t work,
            int64_t budget):
    """Measure the minimum time of a kernel on separate memory, in nanoseconds.

    `budget` is the approximate total time; `work` determines the number of threads.
    """
    cdef _Question question = _Question(params, ins, outs)
    cdef bytes text = name.encode()
    cdef const char *kernel = text
    cdef int64_t best
    question.call.workspace_size = workspace
    question.call.threads = mx_threads_for(work)
    with nogil:
        best = mx_kernel_time(kernel, dtype, &question.call, budget)
    if best < 0:
        raise MXNetError(f"kernel {name}: {mx_last_error().decode()}")
    return best


# --- operator tuning: see mxcy_tuning.h ----------------------------------------------------------

def region_time(int threads, int64_t budget):
    """Measure the time of a parallel region in nanoseconds."""
    cdef double cost
    with nogil:
        cost = mx_region_time(threads, budget)
    return cost


def race(str name, int dtype, bytes params, list ins, list outs, size_t workspace, int team,
         int64_t budget):
    """Measure a kernel with one thread and with a team, in nanoseconds."""
    cdef _Question question = _Question(params, ins, outs)
    cdef bytes text = name.encode()
    cdef const char *kernel = text
    cdef double times[2]
    cdef int status
    question.call.workspace_size = workspace
    question.call.threads = team
    with nogil:
        status = mx_kernel_race(kernel, dtype, &question.call, team, budget, times)
    if status != 0:
        raise MXNetError(f"kernel {name}: {mx_last_error().decode()}")
    return times[0], times[1]


def second_cache():
    """The size of a core's second-level cache in bytes."""
    return mx_second_cache()
