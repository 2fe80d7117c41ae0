cdef object home_of(object context)
cdef bint mixes(object context, object other) except -1
cdef bint is_shared(object context) except -1
cdef bint is_remote(object context) except -1
