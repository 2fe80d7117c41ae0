"""What is known of operators: an OpHandle, its Variants, and what these have Prepared.

The same as `_cy/variants.pyx`: each record has a handle, each set of static attributes a variant,
each signature (the inputs' shapes and element types) a prepared call.
"""

import copy
import ctypes

import numpy as np

from mxcy._base.errors import kernel_error
from mxcy._base.lru_cache import LRUCache
from mxcy._ctypes import native, profiler
from mxcy._ctypes.engine import READS, WRITES, is_naive
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.modes import state
from mxcy._ctypes.pool import pool_of
from mxcy._ctypes.services import services
from mxcy._ctypes.uses import Uses, is_heavy
from mxcy._library.tensor import Tensor
from mxcy.base import _Null

__all__ = ["OpHandle", "Prepared", "Variant", "bind"]

_NOGIL_WORK = 20000  # cheaper calls keep the Python lock


class _Frame:
    """The C structures of a call, to be used again and again; only the addresses change."""

    __slots__ = ("tensors", "slots", "request", "address", "params", "numbers")

    def __init__(self, prepared, nin):
        call, shapes = prepared.call, prepared.extents
        self.tensors = (Tensor * len(shapes))()
        self.slots = list(self.tensors)
        for slot, extents, spec in zip(self.slots, shapes, (*call.ins, *call.outs), strict=True):
            slot.shape, slot.ndim, slot.dtype = extents.ctypes.data, len(extents), spec.dtype
        self.request = request = native.Call(nin=nin, nout=len(call.outs))
        self.address = ctypes.addressof(request)
        request.ins = ctypes.addressof(self.tensors)
        request.outs = request.ins + nin * ctypes.sizeof(Tensor)
        request.workspace_size = call.workspace
        self.params, self.numbers = None, []
        if call.params is not None:
            self.params = ctypes.create_string_buffer(call.params, len(call.params))
            request.params = ctypes.addressof(self.params)
            for index, offset in call.patches:
                self.numbers.append((index, ctypes.c_double.from_buffer(self.params, offset)))


class Prepared:
    """A prepared call of one signature."""

    def __init__(self, handle, attrs, inputs, force=None):
        specs = [services.spec(a.shape, a.dtype_code) for a in inputs]
        self._take_over(handle, services.prepare(handle.op, attrs, specs, native, force), inputs)

    def _take_over(self, handle, call, inputs):
        self.call, self._handle = call, handle
        self.device, self._devices = None, {}  # whose kernel it is; the same call on devices
        if call is None:  # its result is sparse
            return
        self.kernel, self.flags = None, 0
        self.outs = [(tuple(spec.shape), spec.dtype) for spec in call.outs]
        self._mutated = handle.op.mutated(len(inputs))
        self._source = 0  # what the profiler calls it
        if call.kernel is None:
            return
        self.address, self.flags = native.find_kernel(call.kernel, call.dtype)
        self.kernel = native.KERNEL(self.address)
        self._locked = native.LOCKED_KERNEL(self.address)
        shapes = [a.shape for a in inputs] + [shape for shape, _ in self.outs]
        self.extents = [np.array(shape, np.int64) for shape in shapes]
        self._writes = (ctypes.c_int32 * max(len(call.outs), 1))(*[native.WRITE] * len(call.outs))
        self._frames = []  # those that no thread is using

    def _on_device(self, inputs, outputs, writes):
        """Get the call with a device's kernel; None to use the definition.

        See `for_device` of `_cy/running.pyx`.
        """
        arrays = (*inputs, *outputs)
        if not all(array is not None and array.on_device for array in arrays):
            return None
        device, *others = {array.context.device_id for array in arrays}
        if others or (writes and any(write != native.WRITE for write in writes[: len(outputs)])):
            return None
        if device not in self._devices:
            call = services.prepare_on_device(self.call, device)
            there = None if call is None else Prepared.__new__(Prepared)
            if there is not None:
                there._take_over(self._handle, call, inputs)
                there.device = device
            self._devices[device] = there
        there = self._devices[device]
        if there is None or any(
            array.shares_memory(out)
            and (
                array.address != out.address
                or array.shape != out.shape
                or array.dtype.itemsize != out.dtype.itemsize
                or not (
                    there.call.inplace
                    or position in there.call.overwrites
                    or (there.call.turns and position == number * there.call.turns)
                )
            )
            for number, out in enumerate(outputs)
            for position, array in enumerate(inputs)
        ):
            return None
        return there

    def run(self, inputs, outputs, numbers, context, writes=None, strict=False):
        """Compute `outputs` from `inputs`, or leave it to the engine.

        `strict`: it has run when this returns, raising errors here.
        """
        for position in self._mutated:
            inputs[position].touch()
        streams = services.streams_of(context) if self.call.op.uses_rng else None
        if (
            self.kernel is not None
            and self.call.work < _NOGIL_WORK
            and self.call.threads == 1
            and not is_heavy(self.call.work)
            and all(array._storage.is_quiet() for array in (*inputs, *outputs))
            and (streams is None or streams.is_quiet())
        ):
            how = self._locked
            return self._start(
                inputs, outputs, numbers, context, writes, streams, None, how, strict
            )
        uses = self._uses(inputs, outputs, writes, streams, context)
        uses.strict = uses.strict or strict
        how = None  # push
        if (
            uses.strict
            or self.kernel is None
            or uses.exported
            or uses.device
            or (uses.quiet and not is_heavy(self.call.work))
        ):
            how = self.kernel
            if not uses.hold():
                return uses.hand_on()
        there = self._on_device(inputs, outputs, writes) if uses.device else None
        if there is not None:
            how, context = there.kernel, uses.context
            return there._start(
                inputs, outputs, numbers, context, writes, streams, uses, how, strict
            )
        if self.kernel is None or uses.device:
            return self._run_by_reference(inputs, outputs, numbers, uses)
        return self._start(inputs, outputs, numbers, context, writes, streams, uses, how, strict)

    def _uses(self, inputs, outputs, writes, streams, context):
        """Collect the storages that a call reads and writes."""
        uses = Uses(context)
        for array in inputs:
            uses.add(array._storage, READS)
        for position in self._mutated:
            uses.add(inputs[position]._storage, READS | WRITES)
        for i, array in enumerate(outputs):
            uses.add_output(array)
            if writes and writes[i] == native.ADD:
                uses.access[-1] |= READS
        if streams is not None:
            uses.quiet = uses.quiet and streams.is_quiet()
            uses.kept.append(streams)
            uses.add_var(streams.tag, WRITES)
        return uses

    def _run_by_reference(self, inputs, outputs, numbers, uses):
        """Run a call with held arrays by its definition, or on their device."""
        call = self.call
        attrs = call.op.schema.filled(call.attrs, numbers) if numbers else call.attrs
        began = profiler.api_begin()
        uses.run_reference(call, attrs, inputs, outputs)
        if began and profiler.profiled.value & profiler.IMPERATIVE:
            profiler.add(self.named_source(), began, profiler.now())

    def _start(self, inputs, outputs, numbers, context, writes, streams, uses, how, strict):
        """Run the kernel: `how` calls it here, None pushes it."""
        call = self.call
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(self, len(inputs))
        slots, request, n = frame.slots, frame.request, len(inputs)
        for i in range(n):
            slots[i].data = inputs[i].address
        for array in outputs:
            slots[n].data = array.address
            n += 1
        for index, number in frame.numbers:
            number.value = numbers[index]
        request.req = ctypes.addressof(writes or self._writes)
        request.rng = None if streams is None else streams.address
        if how is None:
            request.workspace, request.threads = None, call.threads
            size = 0 if call.params is None else len(call.params)
            source = profiler.profiled.value & profiler.IMPERATIVE and self.named_source()
            uses.push(
                call.op.name,
                locked.mx_push_kernel,
                self.address,
                frame.address,
                size,
                pool_of(context).address,
                source,
            )
            self._frames.append(frame)
            return
        request.threads = 1 if call.threads == 1 else native.lib.mx_threads_up_to(call.threads)
        if call.workspace:
            pool = pool_of(context)
            request.workspace = pool.take_temp(call.workspace)
        if profiler.profiled.value & profiler.IMPERATIVE:
            status = profiler.run_kernel(how, frame.address, self.named_source())
        else:
            status = how(frame.address)
        if status == 0 and self.device is not None and uses.strict:
            status = native.lib.mx_gpu_wait(self.device)
        if call.workspace:
            pool.give_temp(request.workspace, call.workspace)
        self._frames.append(frame)
        if status:
            self._fail(native.lib.mx_last_error().decode(), inputs, outputs, uses, strict)
        elif uses is not None:
            uses.release()

    def _fail(self, text, inputs, outputs, uses, strict):
        """Handle a failed kernel; `uses` is None if nothing is held."""
        error = kernel_error(f"Error in operator {self.call.op.name}: ", text)
        if uses is None:
            if strict or is_naive():
                raise error
            uses = Uses(None)
            for array in (*outputs, *(inputs[position] for position in self._mutated)):
                uses.add(array._storage, WRITES)
            uses.hold()
        uses.fail(error)

    def named_source(self):
        """What the profiler calls it."""
        self._source = self._source or profiler.operator_source(self.call)
        return self._source


class Variant:
    """An operator with one set of static attributes."""

    def __init__(self, handle, values, mode):
        attrs = handle.schema.intern(handle.op.name, values)
        self.handle, self._final, self._factor = handle, None, 1.0
        self.attrs = attrs.with_values(("train", "numpy_types"), mode) if any(mode) else attrs
        self.arguments = None if handle.op.variadic else len(handle.op.arguments(self.attrs))
        self._prepared = LRUCache(services.most_signatures)

    def exact(self, factor):
        """The variant of calls after mixed precision was applied."""
        if self._final is None or self._factor != factor:
            variant = self._final = copy.copy(self)
            self._factor, variant._prepared = factor, LRUCache(services.most_signatures)
            variant.attrs = self.attrs.with_values(("exact",), (True,))
            if factor != 1.0:
                scaled = self.attrs.grad_scale * factor
                variant.attrs = variant.attrs.with_values(("grad_scale",), (scaled,))
        return self._final

    def find(self, inputs):
        """The prepared call for these shapes and dtypes; None where something is sparse."""
        key = tuple([a.kind for a in inputs])
        prepared = self._prepared.get(key)
        if prepared is None:
            if None in key:
                return None
            prepared = Prepared(self.handle, self.attrs, inputs)
            if prepared.call is None:
                return None
            self._prepared.put(key, prepared)
        return prepared


def _is_plain(value):
    """Whether a value may be part of a key, given that (1, 2) == (True, 2.0)."""
    return not isinstance(value, tuple) or all(x is None or type(x) is int for x in value)


class OpHandle:
    """The data of a record in this front."""

    def __init__(self, op):
        self.op, self.schema = op, op.schema
        fields = self.schema.fields
        self._static = tuple(i for i, field in enumerate(fields) if not field.type.dynamic)
        self._dynamic = tuple(fields.index(field) for field in self.schema.dynamic)
        self.plain = op.num_args is None and not self.schema.tuples
        self.absent = (_Null,) * len(fields)  # the raw attributes of a call that gives none
        self.forget()

    def forget(self):
        """Discard all prepared calls."""
        most = services.most_signatures
        self._variants, self._known = LRUCache(most), LRUCache(most)

    def _mode(self):
        """What of the thread's state matters to the operator: training, and NumPy's types."""
        op = self.op
        return op.uses_mode and state.training, op.uses_types and state.numpy_types

    def variant(self, attributes):
        """The variant of attribute values by name."""
        mode = self._mode()
        key = (mode, self.schema.intern(self.op.name, attributes).key)
        variant = self._variants.get(key)
        if variant is None:
            variant = self._variants.put(key, Variant(self, attributes, mode))
        return variant

    def known_variant(self, raw):
        """The variant of raw attributes in schema order, without reading values seen before."""
        static = [raw[i] for i in self._static] if self._dynamic else raw
        key = (*self._mode(), *map(type, static), *static)
        try:
            variant = self._known.get(key)
        except (TypeError, NotImplementedError):  # unhashable values, such as a list or array
            return self.variant(self.attributes(raw))
        if variant is None:
            variant = self.variant(self.attributes(raw))
            if all(map(_is_plain, static)):
                self._known.put(key, variant)
        return variant

    def attributes(self, raw):
        """The attributes by name without those not given."""
        pairs = zip(self.schema.names, raw, strict=True)
        return {name: value for name, value in pairs if value is not _Null}

    def numbers(self, raw):
        """The dynamic attributes out of raw attributes in schema order."""
        fields, name = self.schema.fields, self.op.name
        return tuple(
            raw[i]
            if type(raw[i]) is float and not fields[i].type.single
            else self.schema.parse(name, fields[i], raw[i])
            for i in self._dynamic
        )


def bind(op):
    """Return the handle of a record."""
    handle = op.handles.get("ctypes")
    if handle is None:
        handle = op.handles["ctypes"] = OpHandle(op)
    return handle
