"""The native profiler, for `mxcy.profiler` and the other modules of this front."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from mxcy._cy.native cimport mx_last_error
from mxcy._cy.profiler cimport (
    MX_EVENT_API, MX_EVENT_OPERATOR, MX_PROFILE_API, MX_PROFILE_IMPERATIVE, MX_PROFILE_RUNNING,
    mx_allocation, mx_profile_add, mx_profile_begin, mx_profile_count, mx_profile_dropped,
    mx_profile_epoch, mx_profile_inside, mx_profile_limit, mx_profile_live, mx_profile_now,
    mx_profile_reset, mx_profile_row, mx_profile_scope, mx_profile_set, mx_profile_source,
    mx_profile_stats, mx_profile_waiting, mx_profile_write, mx_profiled,
)

import sys

from mxcy._base.errors import MXNetError

recorder = sys.modules[__name__]  # the name of these functions in `mxcy._library.front`

cdef dict named = {}  # sources of API calls and waits, by name


cdef int32_t operator_source(call, str node="") except -1:
    """The event source of a prepared call, or of `node` in a graph."""
    return source(MX_EVENT_OPERATOR, "operator", call.op.name, call.traced(node))


def source(int kind, str category, str name, str args=""):
    """Return the id of an event source; see mx_profile_source in mxcy_profiler.h."""
    return mx_profile_source(kind, category.encode(), name.encode(), args.encode())


def set_bits(int32_t wanted):
    """Set what is recorded, by bits of mxcy_profiler.h."""
    mx_profile_set(wanted)


def bits():
    """The bits of what is currently recorded."""
    return mx_profiled(-1)


def set_limit(int64_t events):
    """Set the number of unwritten events above which events are dropped."""
    mx_profile_limit(events)


def now():
    """The current time of events, in nanoseconds."""
    return mx_profile_now()


def add(int32_t number, int64_t begin, int64_t end):
    """Record an event of a source if the profiler runs; `end` is the value of a counter."""
    if mx_profiled(MX_PROFILE_RUNNING):
        mx_profile_add(number, begin, end)


def inside(int32_t number):
    """Attribute this thread's operators to a source; return the previous one."""
    return mx_profile_inside(number)


def api_begin():
    """The current time if API calls or waits are recorded, else 0."""
    return mx_profile_begin(MX_PROFILE_API | MX_PROFILE_IMPERATIVE)


def api_end(str name, int64_t begin):
    """Record an API call that began at `begin`, the result of `api_begin`."""
    if mx_profiled(MX_PROFILE_API):
        mx_profile_add(named_source(MX_EVENT_API, "MXNET_C_API", name), begin, mx_profile_now())


def wait_end(str name, int64_t begin):
    """Record the wait `name`, shown among the operators, which began at `begin`."""
    if mx_profiled(MX_PROFILE_IMPERATIVE):
        mx_profile_add(named_source(MX_EVENT_OPERATOR, "operator", name), begin, mx_profile_now())


cdef int32_t named_source(int kind, str category, str name) except -1:
    number = named.get(name)
    if number is None:
        number = named[name] = source(kind, category, name)
    return number


def set_scope(str name):
    """Set the name prefix of this thread's allocations."""
    mx_profile_scope(name.encode())


def write(int fd, bint fresh):
    """Append unwritten events to a trace; see mxcy_profiler.h."""
    cdef int status
    with nogil:
        status = mx_profile_write(fd, fresh)
    if status != 0:
        raise MXNetError(mx_last_error().decode())


def count(bint wanted):
    """Update the statistics, or discard pending events from them."""
    with nogil:
        mx_profile_count(wanted)


def reset():
    """Reset the statistics."""
    mx_profile_reset()


def stats():
    """The statistics: tuples (kind, category, name, count, total, least, most, last)."""
    cdef mx_profile_row row
    cdef int index = 0
    rows = []
    while mx_profile_stats(index, &row):
        index += 1
        if row.count:
            rows.append((
                row.kind, row.category.decode(), row.name.decode(), row.count, row.total,
                row.least, row.most, row.last,
            ))
    return rows


def allocations():
    """List live allocations: (name, bytes, device type, device id, bytes taken, reused)."""
    cdef int64_t n = mx_profile_live(NULL, 0), i
    cdef mx_allocation *rows = <mx_allocation *>malloc(max(n, 1) * sizeof(mx_allocation))
    if rows == NULL:
        raise MemoryError()
    try:
        n = min(n, mx_profile_live(rows, n))
        return [
            (rows[i].scope.decode() + rows[i].owner.decode(), rows[i].bytes, rows[i].device_type,
             rows[i].device_id, rows[i].actual, rows[i].reused)
            for i in range(n)
        ]
    finally:
        free(rows)


def waiting():
    """The approximate number of unwritten events."""
    return mx_profile_waiting()


def dropped():
    """The number of dropped events."""
    return mx_profile_dropped()


def epoch():
    """The time origin of events, in nanoseconds since 1970."""
    return mx_profile_epoch()
