from libc.stdint cimport int32_t, int64_t, uint32_t

from mxcy._cy.native cimport mx_kernel

cdef enum:
    MAX_PARAMS = 4096  # maximum size of a call's parameter struct
    SMALL_PARAMS = 128
    MAX_TUPLES = 3  # maximum number of dynamic tuples, of 60 numbers each
    CALL_NUMBERS = 8 + MAX_TUPLES * 60  # of one call: MAX_NUMBERS and those of tuples
    HOST = -1  # device number of the host
    NOGIL_WORK = 20000  # cheaper calls, of a few microseconds, keep the GIL


cdef class Prepared:
    cdef readonly object call  # mxcy.ops.core.prepare.Call
    cdef mx_kernel kernel  # NULL: run the reference
    cdef uint32_t flags
    cdef int nin, nout, visible
    cdef list in_shapes, out_shapes  # Shape objects
    cdef void **in_layouts  # the same as borrowed pointers, for comparing
    cdef int32_t *in_dtypes
    cdef int32_t *out_dtypes
    cdef bytes params
    cdef const char *params_data
    cdef int npatches
    cdef int *patch_number
    cdef int *patch_offset
    cdef size_t workspace
    cdef int64_t work
    cdef int32_t threads  # maximum number of threads
    cdef tuple mutated  # positions of the inputs that the operator writes, or None
    cdef bint inplace, uses_rng, has_complex
    cdef bint mixed  # whether mixed precision changes the call first
    cdef int32_t source  # profiler source; 0 until needed
    cdef bint simple  # one output, few inputs, little work, nothing special: uses the fast path

    cdef OpHandle handle
    cdef int device  # device of the kernel, or HOST
    cdef dict devices  # device number -> call; None if the device has no kernel

    cdef Prepared on_device(self, tuple inputs, int device)
    cdef bint fits(self, tuple inputs)


cdef class Recent:
    cdef dict young, old

    cdef object get(self, key)
    cdef int put(self, key, entry) except -1


cdef class Variant:
    cdef OpHandle handle
    cdef readonly object attrs
    cdef int arguments  # number of inputs for these attributes; -1: any
    cdef tuple raw  # the attributes as given in the last call of `handle.last`
    cdef int mode
    cdef list near
    cdef Recent far
    cdef Variant final  # the variant after mixed precision, with `grad_scale` times `factor`
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
    cdef Variant plain0  # default attributes, mode 0
    cdef list plain  # default attributes by mode
    cdef list variants  # by mode: Recent
    cdef list with_number  # by mode and by whether the number is an integer
    cdef Variant last  # of the last call
    cdef tuple need_in, need_out  # inputs and outputs read by the gradient rule
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
