"""Plans of the ctypes front: the same as `_cy/plan.pyx`, in plain Python."""

import ctypes

from mxcy._base.errors import MXNetError, kernel_error
from mxcy._ctypes import profiler
from mxcy._ctypes.engine import READS, WRITES
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.native import WRITE, lib
from mxcy._ctypes.services import services
from mxcy._ctypes.uses import Uses, is_heavy

__all__ = ["Plan", "any_failed"]


def any_failed(arrays):
    """Whether an operation that should have computed one of the arrays failed."""
    return any([array.failed for array in arrays])


class _Place(ctypes.Structure):
    """mx_place."""

    _fields_ = [
        ("base", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("offset", ctypes.c_int64),
        ("shape", ctypes.c_void_p),
    ]


class _Step(ctypes.Structure):
    """mx_step."""

    _fields_ = [
        ("kernel", ctypes.c_char_p),
        ("dtype", ctypes.c_int32),
        ("nin", ctypes.c_int32),
        ("nout", ctypes.c_int32),
        ("places", ctypes.c_void_p),
        ("req", ctypes.c_void_p),
        ("params", ctypes.c_void_p),
        ("params_size", ctypes.c_size_t),
        ("workspace", ctypes.c_size_t),
        ("threads", ctypes.c_int32),
    ]


lib.mx_plan_create.restype = ctypes.c_void_p
lib.mx_plan_create.argtypes = [ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
lib.mx_plan_destroy.argtypes = [ctypes.c_void_p]
lib.mx_plan_scratch.restype = ctypes.c_size_t
lib.mx_plan_scratch.argtypes = [ctypes.c_void_p]
lib.mx_plan_run.argtypes = [
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
]
locked.mx_plan_here.argtypes = [ctypes.c_void_p, *[ctypes.c_int32] * 3]
lib.mx_gpu_graphs_run.argtypes = [ctypes.c_void_p, *lib.mx_plan_run.argtypes]


class _Range:
    """What some consecutive steps of a plan use; see `_cy/plan.pyx`."""

    def __init__(self, steps, places, fresh, kept):
        # Steps may use scratch memory in the arena, besides its tensors.
        used = {0: WRITES if fresh else READS | WRITES}
        for step in steps:
            for place in step.ins:
                # Values written by these steps are not needed from others.
                if not used.get(places[place][0], 0) & WRITES:
                    used[places[place][0]] = READS
            for position in step.call.op.mutated(len(step.ins)):
                used[places[step.ins[position]][0]] = READS | WRITES
            for place in step.outs:
                base = places[place][0]
                used[base] = used.get(base, 0) | WRITES
        self.used = list(used.items())
        self.others = [(base, access) for base, access in self.used if not 1 <= base <= kept]
        self.work = sum(step.call.work for step in steps)
        self.uses_rng = any(step.call.op.uses_rng for step in steps)


class Plan:
    """A `mxcy.graph.planning.plan.Plan` that is ready to run; see `_cy/plan.pyx`."""

    def __init__(self, plan, graphs=None):
        self._graphs = graphs
        self._places, self._steps, self._kept = plan.places, plan.steps, len(plan.kept)
        self._own = [i for i, step in enumerate(plan.steps) if step.call.kernel is None]
        self._destroy = lib.mx_plan_destroy
        self._native = _create(plan.places, plan.steps)
        self._sources = None  # what the profiler calls the steps
        self._scratch_at = plan.arena
        self.arena = plan.arena + lib.mx_plan_scratch(self._native)
        self._begin, self._ranges = len(plan.once), {}
        self._labels = [f"{step.call.op.name} (node {step.name})".encode() for step in plan.steps]
        self._native_labels = (ctypes.c_char_p * max(len(self._labels), 1))(*self._labels)

    def __del__(self):
        if getattr(self, "_native", None) is not None:
            self._destroy(self._native)

    def run(self, first, last, bases, context):
        """Run steps first <= i < last."""
        if profiler.profiled.value & profiler.SYMBOLIC and self._sources is None:
            sources = [profiler.operator_source(step.call, step.name) for step in self._steps]
            lib.mx_plan_sources(self._native, (ctypes.c_int32 * max(len(sources), 1))(*sources))
            self._sources = sources
        for number in self._own:
            if number < first:
                continue
            if number >= last:
                break
            self._run_native(first, number, bases, context)
            self._run_own(number, bases, context)
            first = number + 1
        self._run_native(first, last, bases, context)

    def _uses(self, first, last, bases, context):
        """What some steps are, what they read and write, and their random streams."""
        steps = self._ranges.get((first, last))
        if steps is None:
            fresh = first <= self._begin
            steps = self._ranges[first, last] = _Range(
                self._steps[first:last], self._places, fresh, self._kept
            )
        uses, streams = Uses(context), None
        on_device = bases.arena.on_device
        for base, access in steps.others if bases.kept.settled else steps.used:
            array = bases.at(base)
            if access & READS:
                uses.add(array._storage, access)
            else:
                uses.add_output(array)
            if array.on_device != on_device or (on_device and array.context != context):
                raise MXNetError(f"arrays of a graph on {context} must not be on {array.context}")
        uses.kept.append(bases.kept)
        uses.target = None
        if steps.uses_rng:
            streams = services.streams_of(context)
            uses.quiet = uses.quiet and streams.is_quiet()
            uses.add_var(streams.tag, WRITES)
            uses.kept.append(streams)
        return steps, uses, streams

    def _run_native(self, first, last, bases, context):
        if first >= last:
            return
        steps, uses, streams = self._uses(first, last, bases, context)
        here = (
            uses.strict
            or uses.exported
            or uses.device
            or (uses.quiet and (not is_heavy(steps.work) or self._habitual(first, context)))
        )
        if here and not uses.hold():
            uses.hand_on()
            return
        addresses = (ctypes.c_void_p * len(bases.all))(*bases.addresses())
        rng = None if streams is None else streams.address
        failed = ctypes.c_int32()
        scratch = bases.arena.address + self._scratch_at
        if not here:
            uses.kept.append(self)
            uses.push(
                None,
                locked.mx_push_plan,
                self._native,
                first,
                last,
                addresses,
                len(bases.all),
                scratch,
                rng,
                self._native_labels,
            )
            return
        run, which = lib.mx_plan_run, (self._native,)
        if self._graphs is not None:
            run, which = lib.mx_gpu_graphs_run, (self._graphs.address, self._native)
        status = run(*which, first, last, addresses, scratch, rng, ctypes.byref(failed))
        if status == 0 and uses.device and uses.strict:
            status = lib.mx_gpu_wait(context.device_id)
        if status == 0:
            uses.release()
            return
        where = f"Error in operator {self._labels[failed.value].decode()}: "
        uses.fail(kernel_error(where, lib.mx_last_error().decode()))

    def _habitual(self, first, context):
        """Whether this thread waits for these steps whenever it pushes them."""
        return locked.mx_plan_here(self._native, first, context.device_typeid, context.device_id)

    def _run_own(self, number, bases, context):
        step = self._steps[number]
        if step.call.op.foreign is not None:
            ins = [self.array(place, bases) for place in step.ins]
            outs = [self.array(place, bases) for place in step.outs]
            fresh = number <= self._begin
            step.call.op.foreign.run(step, ins, outs, bases.arena, fresh, context)
            return
        _, uses, _ = self._uses(number, number + 1, bases, context)
        if not uses.hold():
            uses.hand_on()
            return
        count = len(step.ins)
        arrays = [self.array(place, bases) for place in step.ins + step.outs]
        began = profiler.now()
        uses.run_reference(step.call, step.call.attrs, arrays[:count], arrays[count:])
        if profiler.profiled.value & profiler.SYMBOLIC and self._sources:
            profiler.add(self._sources[number], began, profiler.now())

    def array(self, place, bases):
        """Make a view of a place's tensor."""
        base, offset, spec = self._places[place]
        return bases.at(base).view_bytes(offset, tuple(spec.shape), spec.dtype)


def _create(places, steps):
    """Create the native plan of places and steps."""
    shapes = [(ctypes.c_int64 * max(len(spec.shape), 1))(*spec.shape) for _, _, spec in places]
    native_places = (_Place * max(len(places), 1))()
    for place, (base, offset, spec), shape in zip(native_places, places, shapes, strict=False):
        place.base, place.offset, place.dtype = base, offset, spec.dtype
        place.ndim, place.shape = len(spec.shape), ctypes.addressof(shape)
    native_steps = (_Step * max(len(steps), 1))()
    kept = []
    for place, step in zip(native_steps, steps, strict=False):
        call = step.call
        numbers = (ctypes.c_int32 * (len(step.ins) + len(step.outs)))(*step.ins, *step.outs)
        reqs = (ctypes.c_int32 * max(len(step.outs), 1))(*[WRITE] * len(step.outs))
        place.kernel = None if call.kernel is None else call.kernel.encode()
        place.dtype, place.threads, place.workspace = call.dtype, call.threads, call.workspace
        place.nin, place.nout = len(step.ins), len(step.outs)
        place.places, place.req = ctypes.addressof(numbers), ctypes.addressof(reqs)
        if call.params is not None:
            params = ctypes.create_string_buffer(call.params, len(call.params))
            place.params, place.params_size = ctypes.addressof(params), len(call.params)
            kept.append(params)
        kept += [numbers, reqs]
    place = lib.mx_plan_create(len(places), native_places, len(steps), native_steps)
    if place is None:
        raise MXNetError(lib.mx_last_error().decode())
    return place
