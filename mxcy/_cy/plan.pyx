"""Plans of the Cython front: a graph's flat list of calls, run by the native library."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport cython

from mxcy._cy.native cimport (
    MX_WRITE, mx_last_error, mx_place, mx_plan, mx_plan_create, mx_plan_destroy, mx_plan_run,
    mx_plan_scratch, mx_rng, mx_step,
)
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.profiler cimport (
    MX_PROFILE_SYMBOLIC, mx_plan_sources, mx_profile_begin, mx_profile_end, mx_profiled,
    operator_source,
)

from mxcy._cy.invoke import plugged
from mxcy.base import MXNetError, kernel_error

cdef enum:
    STACK_BASES = 512


@cython.final
cdef class Plan:
    """A `mxcy.graph.plan.Plan` that is ready to run.

    Parameters
    ----------
    plan : mxcy.graph.plan.Plan

    Attributes
    ----------
    arena : int
        Bytes of base 0 that a run needs.
    """

    cdef mx_plan *native
    cdef list places, steps
    cdef list own  # the numbers of the steps that the reference runs
    cdef list sources  # what the profiler calls the steps; None until it asks
    cdef bint uses_rng
    cdef readonly size_t arena
    cdef size_t scratch_at

    def __init__(self, plan):
        self.places, self.steps = plan.places, plan.steps
        self.own = [i for i, step in enumerate(plan.steps) if step.call.kernel is None]
        self.uses_rng = any([step.call.op.uses_rng for step in plan.steps])
        self.native = create(plan.places, plan.steps)
        self.scratch_at = plan.arena
        self.arena = plan.arena + mx_plan_scratch(self.native)

    def __dealloc__(self):
        if self.native != NULL:
            mx_plan_destroy(self.native)

    def run(self, int first, int last, list bases, context):
        """Run steps first <= i < last.

        Parameters
        ----------
        first, last : int
        bases : list of NDArrayBase
            The memory of each base, the arena first.
        context : Context
            Whose random streams are drawn from.
        """
        cdef int i = first
        if mx_profiled(MX_PROFILE_SYMBOLIC) and self.sources is None:
            self.name_for_profiler()
        for number in self.own:
            if number < i:
                continue
            if number >= last:
                break
            self.run_native(i, number, bases, context)
            self.run_own(number, bases)
            i = number + 1
        self.run_native(i, last, bases, context)

    cdef run_native(self, int first, int last, list bases, context):
        cdef void *few[STACK_BASES]
        cdef void **addresses = few
        cdef int32_t failed = 0
        cdef int status, i, n = len(bases)
        cdef mx_rng *rng = NULL
        cdef char *scratch
        if first >= last:
            return
        if n > STACK_BASES:
            addresses = <void **>malloc(n * sizeof(void *))
            if addresses == NULL:
                raise MemoryError()
        for i in range(n):
            addresses[i] = (<NDArrayBase>bases[i]).data
        scratch = (<NDArrayBase>bases[0]).data + self.scratch_at
        if self.uses_rng:
            rng = <mx_rng *><size_t>plugged("streams")(context)
        with nogil:
            status = mx_plan_run(self.native, first, last, addresses, scratch, rng, &failed)
        if n > STACK_BASES:
            free(addresses)
        if status != 0:
            step = self.steps[failed]
            raise kernel_error(
                f"Error in operator {step.call.op.name} (node {step.name}): ",
                mx_last_error().decode(),
            )

    cdef run_own(self, int number, list bases):
        cdef int64_t began = mx_profile_begin(MX_PROFILE_SYMBOLIC)
        step = self.steps[number]
        arrays = [self.array(place, bases) for place in step.ins + step.outs]
        plugged("reference")(
            step.call, step.call.attrs, arrays[:len(step.ins)], arrays[len(step.ins):]
        )
        if began and self.sources is not None:
            mx_profile_end(self.sources[number], began)

    cdef name_for_profiler(self):
        """Tell the profiler the names of the steps."""
        cdef int i
        sources = [operator_source(step.call, step.name) for step in self.steps]
        cdef int32_t *numbers = <int32_t *>malloc(max(len(sources), 1) * sizeof(int32_t))
        if numbers == NULL:
            raise MemoryError()
        for i in range(len(sources)):
            numbers[i] = sources[i]
        mx_plan_sources(self.native, numbers)
        free(numbers)
        self.sources = sources

    def array(self, int place, list bases):
        """The tensor of a place, as a view."""
        base, offset, spec = self.places[place]
        return bases[base].view_bytes(offset, tuple(spec.shape), spec.dtype)


cdef mx_plan *create(list places, list steps) except NULL:
    """The native plan of places and steps."""
    cdef int i
    cdef int64_t extents = sum([len(spec.shape) for _, _, spec in places])
    cdef int64_t operands = sum([len(step.ins) + len(step.outs) for step in steps])
    cdef mx_place *native_places = <mx_place *>malloc(max(len(places), 1) * sizeof(mx_place))
    cdef mx_step *native_steps = <mx_step *>malloc(max(len(steps), 1) * sizeof(mx_step))
    cdef int64_t *shape = <int64_t *>malloc(max(extents, 1) * sizeof(int64_t))
    cdef int32_t *numbers = <int32_t *>malloc(max(operands, 1) * sizeof(int32_t))
    cdef int32_t *reqs = <int32_t *>malloc(max(operands, 1) * sizeof(int32_t))
    cdef int64_t *next_extent = shape
    cdef int32_t *next_number = numbers
    cdef mx_plan *made = NULL
    cdef list kept = []
    try:
        if (native_places == NULL or native_steps == NULL or shape == NULL or numbers == NULL
                or reqs == NULL):
            raise MemoryError()
        for i in range(operands):
            reqs[i] = MX_WRITE
        for i, (base, offset, spec) in enumerate(places):
            native_places[i].base, native_places[i].offset = base, offset
            native_places[i].dtype, native_places[i].ndim = spec.dtype, len(spec.shape)
            native_places[i].shape = next_extent
            for extent in spec.shape:
                next_extent[0] = extent
                next_extent += 1
        for i, step in enumerate(steps):
            call = step.call
            name = None if call.kernel is None else call.kernel.encode()
            kept.append(name)
            native_steps[i].kernel = NULL if name is None else <const char *>name
            native_steps[i].dtype, native_steps[i].work = call.dtype, -call.threads
            native_steps[i].nin, native_steps[i].nout = len(step.ins), len(step.outs)
            native_steps[i].places, native_steps[i].req = next_number, reqs
            for place in step.ins + step.outs:
                next_number[0] = place
                next_number += 1
            native_steps[i].params, native_steps[i].params_size = NULL, 0
            if call.params is not None:
                native_steps[i].params = <const char *>(<bytes>call.params)
                native_steps[i].params_size = len(call.params)
            native_steps[i].workspace = call.workspace
        made = mx_plan_create(len(places), native_places, len(steps), native_steps)
        if made == NULL:
            raise MXNetError(mx_last_error().decode())
    finally:
        free(native_places)
        free(native_steps)
        free(shape)
        free(numbers)
        free(reqs)
    return made
