from libc.stdint cimport int32_t, int64_t, uint32_t

from mxcy._cy.native cimport mx_kernel

cdef enum:
    MAX_PARAMS = 4096  # bytes of a call's parameter struct
    SMALL_PARAMS = 128
    MAX_TUPLES = 3  # dynamic tuples of an operator, of 60 numbers each
    CALL_NUMBERS = 8 + MAX_TUPLES * 60  # of one call: MAX_NUMBERS and those of tuples
    HOST = -1  # the number of no device
    NOGIL_WORK = 20000  # cheaper calls, of a few microseconds, keep the Python lock


cdef class Prepared:
    cdef readonly object call  # mxcy.ops.core.prepare.Call
    cdef mx_kernel kernel  # NULL: the reference runs
    cdef uint32_t flags
    cdef int nin, nout, visible
    cdef list in_shapes, out_shapes  # Shape objects
    cdef void **in_layouts  # the same, borrowed, for comparing
    cdef int32_t *in_dtypes
    cdef int32_t *out_dtypes
    cdef bytes params
    cdef const char *params_data
    cdef int npatches
    cdef int *patch_number
    cdef int *patch_offset
    cdef size_t workspace
    cdef int64_t work
    cdef int32_t threads  # the most it may use
    cdef tuple mutated  # positions of the inputs that the operator writes, or None
    cdef bint inplace, uses_rng, has_complex
    cdef bint mixed  # whether mixed precision changes the call first
    cdef int32_t source  # what the profiler calls it; 0 until it asks
    cdef bint simple  # one output, few inputs, little work, nothing special: takes the short way

    cdef OpHandle handle
    cdef int device  # whose kernel it is, or HOST
    cdef dict devices  # the same call on devices by number; None where one has no kernel

    cdef Prepared on_device(self, tuple inputs, int device)
    cdef bint fits(self, tuple inputs)


cdef class Recent:
    cdef dict young, old

    cdef object get(self, key)
    cdef int put(self, key, entry) except -1


cdef class Variant:
    cdef OpHandle handle
    cdef readonly object attrs
    cdef int arguments  # how many inputs these attributes ask for; -1: any number
    cdef tuple raw  # the attributes as given in the last call of `handle.last`
    cdef int mode
    cdef list near
    cdef Recent far
    cdef Variant final  # the same after mixed precision, with its `grad_scale` times `factor`
    cdef double factor

    cdef Prepared find(self, tuple inputs)
    cdef Variant exact(self, double factor)


cdef class OpHandle:
    cdef readonly object op
    cdef object schema
    cdef str variadic
    cdef object num_args
    cdef bint differentiable
    cdef int uses_mode  # 1: training matters, 2: NumPy's element types do
    cdef list is_dynamic, is_single  # per field: a dynamic number, one rounded to float32
    cdef list is_tuple  # a dynamic tuple
    cdef int nfields, nnumbers, num_args_field
    cdef Variant plain0  # no attributes given, in mode 0
    cdef list plain  # the same by mode
    cdef list variants  # by mode: Recent
    cdef list with_number  # by mode and by whether the number is an integer
    cdef Variant last  # of the last call
    cdef tuple need_in, need_out  # which inputs and outputs the gradient rule reads
    cdef bint need_all_in, need_all_out

    cdef int mode_now(self)
    cdef Variant make_variant(self, dict given, int mode)
    cdef Variant plain_now(self)
    cdef Variant number_variant(self, bint is_int)
    cdef Variant variant(self, tuple raw, double *numbers, dict extra, int nargs)
    cdef bint repeats(self, tuple before, tuple raw) noexcept
    cdef Variant keyed_variant(self, tuple key, tuple raw, double *numbers, int mode, int nargs)
    cdef Variant slow_variant(self, tuple raw, double *numbers, dict extra, int nargs)


cdef Prepared prepare_for(OpHandle handle, attrs, tuple inputs, force)
