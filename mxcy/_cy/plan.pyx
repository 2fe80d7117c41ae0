"""Plans of the Cython front: flat lists of calls, run by the native library."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport cython

from mxcy._cy.bases cimport Bases
from mxcy._cy.engine cimport MX_READS, MX_WRITES, mx_operation
from mxcy._cy.native cimport (
    MX_WRITE, mx_gpu_graphs, mx_gpu_graphs_run, mx_gpu_wait, mx_last_error, mx_place, mx_plan,
    mx_plan_create, mx_plan_destroy, mx_plan_run, mx_plan_scratch, mx_rng, mx_step,
)
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.pending cimport mx_plan_here, mx_push_plan
from mxcy._cy.profiler cimport (
    MX_PROFILE_SYMBOLIC, mx_plan_sources, mx_profile_begin, mx_profile_device, mx_profile_end,
    mx_profiled, operator_source,
)
from mxcy._cy.services cimport services
from mxcy._cy.storage cimport Storage
from mxcy._cy.streams cimport Streams
from mxcy._cy.uses cimport Uses, limits, uses_on
from mxcy._cy.variants cimport HOST

from mxcy._base.errors import MXNetError, kernel_error

cdef enum:
    STACK_BASES = 512


def any_failed(list arrays):
    """Whether an operation that should have computed one of the arrays failed."""
    cdef NDArrayBase array
    for array in arrays:
        if array.failed:
            return True
    return False


@cython.final
cdef class _Range:
    """The bases used by consecutive steps of a plan.

    Parameters
    ----------
    steps : list of mxcy.graph.planning.plan.Step
    places : list
        Places of the plan.
    fresh : bool
        Whether they need no results of other steps in the arena.
    kept : int
        Number of kept arrays, the bases from 1 on.
    """

    cdef list bases, access  # indices of bases, and their access modes
    cdef list other_bases, other_access  # of all but kept arrays
    cdef int64_t work
    cdef bint uses_rng

    def __init__(self, list steps, list places, bint fresh, int kept):
        # Steps may use scratch memory in the arena, besides its tensors.
        used = {0: MX_WRITES if fresh else MX_READS | MX_WRITES}
        for step in steps:
            for place in step.ins:
                # Values written by these steps are not needed from others.
                if not used.get(places[place][0], 0) & MX_WRITES:
                    used[places[place][0]] = MX_READS
            for position in step.call.op.mutated(len(step.ins)):
                used[places[step.ins[position]][0]] = MX_READS | MX_WRITES
            for place in step.outs:
                base = places[place][0]
                used[base] = used.get(base, 0) | MX_WRITES
        self.bases, self.access = list(used), list(used.values())
        self.other_bases = [base for base in used if not 1 <= base <= kept]
        self.other_access = [used[base] for base in self.other_bases]
        self.work = sum([step.call.work for step in steps])
        self.uses_rng = any([step.call.op.uses_rng for step in steps])


@cython.final
cdef class Plan:
    """An executable `mxcy.graph.planning.plan.Plan`.

    Parameters
    ----------
    plan : mxcy.graph.planning.plan.Plan
    graphs : mxcy.gpu.graphs.Graphs, optional
        Runs steps on a device as CUDA graphs.

    Attributes
    ----------
    arena : int
        Size of base 0 in bytes.
    """

    cdef mx_plan *native
    cdef list places, steps
    cdef int kept  # number of kept arrays
    cdef list own  # indices of the steps run by the reference
    cdef list sources  # the steps' profiler sources; None until needed
    cdef readonly size_t arena
    cdef size_t scratch_at
    cdef int begin  # first step of the forward pass
    cdef dict ranges  # (first, last) -> _Range
    cdef list labels  # the steps' names in errors
    cdef const char **native_labels
    cdef object graphs
    cdef mx_gpu_graphs *native_graphs

    def __init__(self, plan, graphs=None):
        cdef int i
        self.graphs = graphs
        self.native_graphs = NULL if graphs is None else <mx_gpu_graphs *><size_t>graphs.address
        self.places, self.steps, self.kept = plan.places, plan.steps, len(plan.kept)
        self.own = [i for i, step in enumerate(plan.steps) if step.call.kernel is None]
        self.native = create(plan.places, plan.steps)
        self.scratch_at = plan.arena
        self.arena = plan.arena + mx_plan_scratch(self.native)
        self.begin, self.ranges = len(plan.once), {}
        self.labels = [f"{step.call.op.name} (node {step.name})".encode() for step in plan.steps]
        self.native_labels = <const char **>malloc(max(len(self.labels), 1) * sizeof(char *))
        if self.native_labels == NULL:
            raise MemoryError()
        for i in range(len(self.labels)):
            self.native_labels[i] = <const char *>(<bytes>self.labels[i])

    def __dealloc__(self):
        free(self.native_labels)
        if self.native != NULL:
            mx_plan_destroy(self.native)

    def run(self, int first, int last, Bases bases not None, context):
        """Run steps first <= i < last, or push them to the engine as one operation.

        Steps without a kernel are separate operations and run here.

        Parameters
        ----------
        first, last : int
        bases : Bases
        context : Context
            Context of the random streams.
        """
        cdef int i = first
        if mx_profiled(MX_PROFILE_SYMBOLIC):
            mx_profile_device(context.device_typeid, context.device_id)
            if self.sources is None:
                self.name_for_profiler()
        for number in self.own:
            if number < i:
                continue
            if number >= last:
                break
            self.run_native(i, number, bases, context)
            self.run_own(number, bases, context)
            i = number + 1
        self.run_native(i, last, bases, context)

    cdef _Range range_of(self, int first, int last):
        """The cached `_Range` of some steps."""
        known = self.ranges.get((first, last))
        if known is None:
            known = self.ranges[first, last] = _Range(
                self.steps[first:last], self.places, first <= self.begin, self.kept
            )
        return <_Range>known

    cdef Uses uses_of(self, _Range steps, Bases bases, context):
        """The storages that some steps read and write."""
        cdef Uses uses = uses_on(context)
        cdef Streams streams
        cdef Storage storage, arena = bases.arena.storage
        cdef NDArrayBase array
        cdef list used, accesses
        cdef int i, access
        used, accesses = steps.bases, steps.access
        if bases.kept.settled:
            used, accesses = steps.other_bases, steps.other_access
            uses.kept.append(bases.kept)
        for i in range(len(used)):
            array, access = bases.at(used[i]), accesses[i]
            storage = array.storage
            if access & MX_READS:
                uses.add(storage, access)
            else:
                uses.add_output(array)
            if storage.device != arena.device or (arena.device and storage.pool != arena.pool):
                raise MXNetError(f"arrays of a graph on {context} must not be on {storage.context}")
        uses.target = None
        if steps.uses_rng:
            streams = <Streams>services.streams_of(context)
            uses.quiet = uses.quiet and streams.is_quiet()
            uses.add_var(streams.var, MX_WRITES)
            uses.kept.append(streams)
        return uses

    cdef int run_native(self, int first, int last, Bases bases, context) except -1:
        cdef void *few[STACK_BASES]
        cdef void **addresses = few
        cdef int32_t failed = 0
        cdef int status, device, n = bases.count()
        cdef mx_rng *rng = NULL
        cdef char *scratch
        cdef mx_operation about
        cdef _Range steps
        cdef Uses uses
        if first >= last:
            return 0
        steps = self.range_of(first, last)
        uses = self.uses_of(steps, bases, context)
        here = uses.strict or uses.exported or uses.device or (
            uses.quiet and (
                steps.work < limits.heavy_work
                or mx_plan_here(self.native, first, context.device_typeid, context.device_id)
            )
        )
        device = context.device_id if uses.device else HOST
        if here and not uses.hold():
            return uses.hand_on()
        if n > STACK_BASES:
            addresses = <void **>malloc(n * sizeof(void *))
            if addresses == NULL:
                raise MemoryError()
        bases.locate(steps.other_bases if bases.kept.settled else steps.bases, addresses)
        scratch = bases.arena.data + self.scratch_at
        if steps.uses_rng:
            rng = <mx_rng *><size_t>services.streams_of(context).address
        try:
            if not here:
                uses.kept.append(self)
                uses.describe(&about, None)
                status = mx_push_plan(&about, self.native, first, last, addresses, n, scratch, rng,
                                      self.native_labels)
                return uses.pushed(&about, status)
            with nogil:
                if self.native_graphs != NULL:
                    status = mx_gpu_graphs_run(self.native_graphs, self.native, first, last,
                                               addresses, scratch, rng, &failed)
                else:
                    status = mx_plan_run(self.native, first, last, addresses, scratch, rng, &failed)
                if status == 0 and device != HOST and uses.strict:
                    status = mx_gpu_wait(device)
                if status == 0:
                    uses.release()
        finally:
            if n > STACK_BASES:
                free(addresses)
        if status != 0:
            where = f"Error in operator {self.labels[failed].decode()}: "
            uses.fail(kernel_error(where, mx_last_error().decode()))
        return 0

    cdef int run_own(self, int number, Bases bases, context) except -1:
        cdef Uses uses
        cdef int64_t began
        step = self.steps[number]
        if step.call.op.foreign is not None:
            return self.run_foreign(step, number <= self.begin, bases, context)
        uses = self.uses_of(self.range_of(number, number + 1), bases, context)
        if not uses.hold():
            return uses.hand_on()
        began = mx_profile_begin(MX_PROFILE_SYMBOLIC)
        try:
            arrays = [self.array(place, bases) for place in step.ins + step.outs]
            services.run_reference(
                step.call, step.call.attrs, arrays[:len(step.ins)], arrays[len(step.ins):]
            )
        except (MXNetError, IndexError) as error:
            return uses.fail(error)
        except BaseException:
            uses.release()
            raise
        uses.release()
        if began and self.sources is not None:
            mx_profile_end(self.sources[number], began)
        return 0

    cdef int run_foreign(self, step, bint fresh, Bases bases, context) except -1:
        """Run a custom operator, which pushes its Python code itself."""
        ins = [self.array(place, bases) for place in step.ins]
        outs = [self.array(place, bases) for place in step.outs]
        step.call.op.foreign.run(step, ins, outs, bases.arena, fresh, context)
        return 0

    cdef name_for_profiler(self):
        """Register the names of the steps with the profiler."""
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

    def array(self, int place, Bases bases not None):
        """Make a view of a place's tensor."""
        base, offset, spec = self.places[place]
        return bases.at(base).view_bytes(offset, tuple(spec.shape), spec.dtype)


cdef mx_plan *create(list places, list steps) except NULL:
    """Create the native plan of places and steps."""
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
    cdef mx_plan *plan = NULL
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
            native_steps[i].kernel = NULL
            if name is not None:
                native_steps[i].kernel = <const char *>name
            native_steps[i].dtype, native_steps[i].threads = call.dtype, call.threads
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
        plan = mx_plan_create(len(places), native_places, len(steps), native_steps)
        if plan == NULL:
            raise MXNetError(mx_last_error().decode())
    finally:
        free(native_places)
        free(native_steps)
        free(shape)
        free(numbers)
        free(reqs)
    return plan
