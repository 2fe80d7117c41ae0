"""The memory of a plan's run: the arena, arrays kept between runs, and those of one run."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport cython
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize
from cpython.object cimport PyObject

from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.storage cimport clock, is_readable, wrote


@cython.final
cdef class Kept:
    """Arrays that steps compute once; nobody writes to them after the steps have run.

    Parameters
    ----------
    arrays : list of (NDArrayBase or None)
        None where no value is needed any more.

    Attributes
    ----------
    settled : bool
        Whether all are known to be computed, so that readers need not tell the engine.
    """

    def __cinit__(self, list arrays):
        cdef int i
        cdef object array
        self.arrays = list(arrays)
        self.addresses = <void **>malloc(max(len(arrays), 1) * sizeof(void *))
        if self.addresses == NULL:
            raise MemoryError()
        for i, array in enumerate(self.arrays):
            self.addresses[i] = NULL if array is None else (<NDArrayBase?>array).data

    def __dealloc__(self):
        free(self.addresses)

    cdef int count(self) noexcept:
        return len(self.arrays)

    def settle(self):
        """Find out whether all arrays are computed; reads of devices stay engine operations."""
        cdef NDArrayBase array
        for array in self.arrays:
            if array is not None and (
                array.storage.device or array.failed or not is_readable(array.storage)
            ):
                return False
        self.settled = True
        return True


@cython.final
cdef class Bases:
    """The arrays that a plan's bases refer to, in order: arena, kept ones, those of a run.

    Parameters
    ----------
    arena : NDArrayBase
    kept : Kept
    arrays : list of (NDArrayBase or None)
        The variables, then the outputs. Those that no step of a run uses may be None or missing.
    """

    def __cinit__(self, NDArrayBase arena not None, Kept kept not None, list arrays not None):
        self.arena, self.kept, self.arrays = arena, kept, arrays

    cdef int count(self) noexcept:
        return 1 + self.kept.count() + len(self.arrays)

    cdef NDArrayBase at(self, int base):
        """The array of a base; an error where there is none."""
        cdef int kept = self.kept.count()
        if base == 0:
            return self.arena
        if base <= kept:
            return <NDArrayBase?>self.kept.arrays[base - 1]
        return <NDArrayBase?>self.arrays[base - 1 - kept]

    cdef int locate(self, list used, void **addresses) except -1:
        """Write the addresses of used bases; others are undefined."""
        cdef int base
        if self.kept.settled:
            memcpy(addresses + 1, self.kept.addresses, self.kept.count() * sizeof(void *))
        for base in used:
            addresses[base] = self.at(base).data
        return 0


@cython.final
cdef class Watch:
    """Notices that arrays were written or replaced.

    Parameters
    ----------
    arrays : list of NDArrayBase
    slots : list of int
        Positions of arrays whose addresses count.
    written : list of int
        Positions of arrays whose values count, too.
    """

    def __cinit__(self, list arrays, list slots, list written):
        cdef int i
        self.count, self.nwritten = len(slots), len(written)
        self.slots = <int32_t *>malloc(max(self.count, 1) * sizeof(int32_t))
        if self.slots == NULL:
            raise MemoryError()
        for i, slot in enumerate(written + list(set(slots).difference(written))):
            self.slots[i] = slot
        for i in range(self.nwritten):
            (<NDArrayBase?>arrays[self.slots[i]]).storage.watched = True
        self.snapshot = self.look(arrays)

    def __dealloc__(self):
        free(self.slots)

    def holds(self, list arrays):
        """Whether the arrays are still the same, with the same values."""
        cdef int i
        if self.clock == clock.watched and not self.exported:
            for i in range(self.count):
                if <PyObject *>arrays[self.slots[i]] != <PyObject *>self.arrays[i]:
                    break
            else:
                return True
        return self.look(arrays) == self.snapshot

    cdef bytes look(self, list arrays):
        """Return the addresses and versions, and remember when they were read."""
        cdef Py_ssize_t n = self.count + self.nwritten
        cdef bytes snapshot = PyBytes_FromStringAndSize(NULL, n * sizeof(int64_t))
        cdef int64_t *state = <int64_t *>PyBytes_AsString(snapshot)
        cdef NDArrayBase array
        cdef int i
        self.arrays, self.exported = [], False
        for i in range(self.count):
            array = <NDArrayBase?>arrays[self.slots[i]]
            self.arrays.append(array)
            state[i] = <int64_t>array.data
            if i < self.nwritten:
                if array.storage.exported:
                    self.exported = True
                    wrote(array.storage)
                state[self.count + i] = array.storage.version
        self.clock = clock.watched
        return snapshot
