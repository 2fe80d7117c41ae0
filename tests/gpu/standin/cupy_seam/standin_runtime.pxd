from libc.stdint cimport intptr_t

# Functions with optional arguments cannot be `api`; here they are offered to C as well.
cpdef streamWaitEvent(intptr_t stream, intptr_t event, unsigned int flags=*)
cpdef streamBeginCapture(intptr_t stream, int mode=*)
cpdef pointerGetAttributes(intptr_t ptr)
