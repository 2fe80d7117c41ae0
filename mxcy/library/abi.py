"""The C interface of operator libraries (MXNet's ``lib_api.h``, version 11), by ctypes.

A library represents its operators' functions by pointers, which it receives with each call: only
the ``_opCall...`` functions know their types. All of them return 0 upon failure.
"""

import ctypes
import itertools

from mxcy.base import MXNetError
from mxcy.library.random_states import random_states

__all__ = ["ABI_VERSION", "Entry", "Library"]

#: version of ``lib_api.h``, which MXNet 1.8 to 2.0 share
ABI_VERSION = 11
_MXNET_VERSION = 10901  # passed to `initialize`
_versions = itertools.count(1)  # every tensor is marked as changed since the last call

_int, _size, _text, _pointer = ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p
_Malloc = ctypes.CFUNCTYPE(_pointer, _pointer, _int)
_Shape = ctypes.POINTER(ctypes.c_uint)


class Entry:
    """An operator registered by a library; functions are addresses or None.

    Attributes
    ----------
    name : str
    in_subgraphs : bool
        Whether it is only for subgraphs of the library's partitioners.
    forward, backward, create : int or None
        CPU functions that compute, and that create a stateful object.
    parse, types, shapes, mutated : int or None
        Functions for attributes, dtypes, shapes, and mutated inputs.
    """

    def __init__(self, library, number):
        name, in_subgraphs = _text(), _int()
        kinds = [(ctypes.POINTER(_text)(), ctypes.POINTER(_pointer)(), _int()) for _ in range(3)]
        functions = [_pointer() for _ in range(5)]
        fields = [field for kind in kinds for field in kind] + functions
        library._opRegGet(number, *map(ctypes.byref, (name, in_subgraphs, *fields)))
        self.name, self.in_subgraphs = name.value.decode(), bool(in_subgraphs.value)
        self.forward, self.backward, self.create = (_on_cpu(*kind) for kind in kinds)
        self.parse, self.types, _, self.shapes, self.mutated = (f.value for f in functions)


def _on_cpu(contexts, functions, count):
    by_context = {contexts[i]: functions[i] for i in range(count.value)}
    return by_context.get(b"cpu")


def _attributes(attrs):
    """Convert attributes for C: keys, values, count."""
    texts = [[text.encode() for text in part] for part in (attrs, attrs.values())]
    return *((_text * len(part))(*part) for part in texts), len(attrs)


class _Tensors:
    """Arrays converted for C."""

    def __init__(self, arrays):
        count = len(arrays)
        self._shapes = [(ctypes.c_int64 * len(a.shape))(*a.shape) for a in arrays]
        shapes = [ctypes.cast(shape, _pointer) for shape in self._shapes]
        self.fields = (
            (_pointer * count)(*shapes),
            (_int * count)(*(len(a.shape) for a in arrays)),
            (_pointer * count)(*(a.address for a in arrays)),
            (_int * count)(*(a.dtype_code for a in arrays)),
            (_size * count)(*(next(_versions) for _ in arrays)),
            (_text * count)(*[b"cpu"] * count),
            (_int * count)(*[0] * count),
            count,
        )
        self.dense = (_int * count)(*[0] * count)
        self.nothing = (_pointer * count)()
        self.no_lengths = (ctypes.c_int64 * count)()


class Library:
    """A loaded library of operators.

    Parameters
    ----------
    path : str

    Raises
    ------
    MXNetError
        If it cannot be loaded, is not an operator library, or rejects this version of MXNet.
    """

    def __init__(self, path):
        self.path = path
        try:
            self._library = ctypes.CDLL(path)
            version = self._library._opVersion()
        except (OSError, AttributeError) as error:
            raise MXNetError(f"Error loading library {path}: {error}") from error
        if version != ABI_VERSION:
            raise MXNetError(
                f"Library {path} has version {version} of lib_api.h, expected {ABI_VERSION}"
            )
        self._seen = 0
        if not self._library.initialize(_MXNET_VERSION):
            raise MXNetError(f"Library {path} failed to initialize{self._messages()}")

    def entries(self):
        """List the operators, as `Entry`."""
        return [Entry(self._library, i) for i in range(self._library._opRegSize())]

    def others(self):
        """Return the numbers of graph partitioners and passes."""
        return self._library._partRegSize(), self._library._passRegSize()

    def _messages(self):
        """Return the library's new error messages."""
        texts, count = [], self._library._msgSize()
        for number in range(self._seen, count):
            text = _text()
            self._library._msgGet(number, ctypes.byref(text))
            texts.append(f"\n\t[{number}] {text.value.decode(errors='replace').rstrip()}")
        self._seen = count
        return "\nExtension Traceback:" + "".join(texts) if texts else ""

    def _check(self, status, entry, what):
        if not status:
            raise MXNetError(
                f"Error calling {what} for custom operator '{entry.name}'{self._messages()}"
            )

    # --- inference --------------
    def counts(self, entry, attrs):
        """Return the numbers of inputs and outputs."""
        ins, outs = _int(), _int()
        status = self._library._opCallParseAttrs(
            _pointer(entry.parse), *_attributes(attrs), ctypes.byref(ins), ctypes.byref(outs)
        )
        self._check(status, entry, "ParseAttrs")
        return ins.value, outs.value

    def mutated(self, entry, attrs):
        """List the inputs that the operator writes."""
        if not entry.mutated:
            return []
        places, count = ctypes.POINTER(_int)(), _int()
        status = self._library._opCallMutateInputs(
            _pointer(entry.mutated), *_attributes(attrs), ctypes.byref(places), ctypes.byref(count)
        )
        self._check(status, entry, "MutateInputs")
        numbers = places[: count.value] if count.value else []
        self._library._opCallFree(places)
        return numbers

    def infer_types(self, entry, attrs, codes, outs):
        """Infer dtype codes of inputs and outputs from the inputs'; -1 is unknown."""
        ins, codes_out = (_int * len(codes))(*codes), (_int * outs)(*[-1] * outs)
        status = self._library._opCallInferType(
            _pointer(entry.types), *_attributes(attrs), ins, len(codes), codes_out, outs
        )
        self._check(status, entry, "InferType")
        return list(ins), list(codes_out)

    def infer_shapes(self, entry, attrs, shapes, outs):
        """Infer shapes of inputs and outputs from the inputs'."""
        rows = [(ctypes.c_uint * len(shape))(*shape) for shape in shapes]
        shapes_in = (_Shape * len(rows))(*(ctypes.cast(row, _Shape) for row in rows))
        dims = (_int * len(rows))(*map(len, shapes))
        shapes_out = [
            (ctypes.POINTER(_Shape)(), ctypes.POINTER(_int)(), count) for count in (len(rows), outs)
        ]
        (ins, in_dims, _), (out, out_dims, _) = shapes_out
        status = self._library._opCallInferShape(
            _pointer(entry.shapes),
            *_attributes(attrs),
            shapes_in,
            dims,
            len(rows),
            *map(ctypes.byref, (ins, in_dims, out, out_dims)),
            outs,
        )
        self._check(status, entry, "InferShape")
        return [self._taken(*part) for part in shapes_out]

    def _taken(self, shapes, dims, count):
        """Read shapes allocated by the library, and free them."""
        lists = [shapes[i][: dims[i]] for i in range(count)]
        for memory in (*(shapes[i] for i in range(count)), shapes, dims):
            self._library._opCallFree(memory)
        return lists

    # --- computing ---
    def _resources(self):
        """Make allocators, streams and random states for a call, and objects to keep during it."""
        buffers = []

        def allocate(_, size):
            buffers.append(ctypes.create_string_buffer(max(size, 1)))
            return ctypes.addressof(buffers[-1])

        malloc, nothing = _Malloc(allocate), _pointer()
        return (malloc, *[nothing] * 6), _pointer(random_states()), (buffers, malloc)

    def _run(self, function, first, ins, outs):
        sources, taken = _Tensors(ins), _Tensors(outs)
        resources, states, kept = self._resources()
        places = ("dense", "nothing", "nothing", "no_lengths", "no_lengths")  # for sparse arrays
        sparse = [getattr(part, place) for place in places for part in (sources, taken)]
        status = function(
            *first, *sources.fields, *taken.fields, *resources, *sparse, states, _pointer()
        )
        del kept
        return status

    def compute(self, entry, forward, attrs, ins, outs):
        """Run a pass of a stateless operator.

        Parameters
        ----------
        entry : Entry
        forward : bool
        attrs : dict of str to str
        ins, outs : list of NDArray
        """
        function = entry.forward if forward else entry.backward
        first = (_pointer(function), *_attributes(attrs))
        status = self._run(self._library._opCallFCompute, first, ins, outs)
        self._check(status, entry, "FCompute")

    def create(self, entry, attrs, shapes, codes):
        """Create a stateful operator; return its address."""
        rows = [(ctypes.c_uint * len(shape))(*shape) for shape in shapes]
        c_shapes = (_Shape * len(rows))(*(ctypes.cast(row, _Shape) for row in rows))
        handle = _pointer()
        status = self._library._opCallCreateOpState(
            _pointer(entry.create),
            *_attributes(attrs),
            b"cpu",
            0,
            c_shapes,
            (_int * len(rows))(*map(len, shapes)),
            len(rows),
            (_int * len(codes))(*codes),
            ctypes.byref(handle),
        )
        self._check(status and handle.value, entry, "CreateOpState")
        return handle.value

    def compute_with(self, entry, state, forward, ins, outs):
        """Run a pass of a stateful operator."""
        first = (int(forward), _pointer(state))
        status = self._run(self._library._opCallFStatefulCompute, first, ins, outs)
        self._check(status, entry, "FStatefulCompute")

    def destroy(self, state):
        """Delete a stateful operator."""
        self._library._opCallDestroyOpState(_pointer(state))
