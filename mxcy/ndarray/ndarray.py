"""`mx.nd.NDArray`, the array of the classic interface.

Memory, views and arithmetic come from the front's base class; this class adds what needs no speed.
Every operator with a lower-case name is a method of its first input: `fluent` adds those.
"""

import ctypes

import numpy as np

from mxcy._base import dtypes, older_paths
from mxcy._base.dtypes import STORAGE_TYPES
from mxcy._library import front
from mxcy._library.front import recorder
from mxcy.gpu.reference import store
from mxcy.gpu.views import interface
from mxcy.ndarray import arithmetic, fluent, gradients, state
from mxcy.ndarray._exchange import dlpack, pointers
from mxcy.ndarray._exchange.dlpack import from_dlpack, to_dlpack_for_read, to_dlpack_for_write  # noqa: F401
from mxcy.ndarray._functions import functions
from mxcy.ndarray._functions.creation import *  # noqa: F403
from mxcy.ndarray._functions.functions import *  # noqa: F403
from mxcy.ndarray._indexing import access
from mxcy.ndarray._indexing.index_rules import *  # noqa: F403
from mxcy.ndarray._indexing.keys import lies_side_by_side
from mxcy.ndarray.arithmetic import *  # noqa: F403  also offered under this module's name
from mxcy.ndarray.conversions import Conversions
from mxcy.ndarray.register import F
from mxcy.ndarray.shape import broadcastable, expanded, reshape_arguments, reshaped, squeezed
from mxcy.ndarray.tape import is_taped, record_reshape
from mxcy.ops.core import reference

__all__ = ["NDArray", "_DTYPE_MX_TO_NP", "_DTYPE_NP_TO_MX", "_GRAD_REQ_MAP", "_new_empty_handle"]


_DTYPE_MX_TO_NP = {-1: None, **{code: dtypes.type_of(code) for code in dtypes.DTYPES}}
_DTYPE_NP_TO_MX = {kind: code for code, kind in _DTYPE_MX_TO_NP.items()}
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}
_STORAGE_TYPE_STR_TO_ID = STORAGE_TYPES
_STORAGE_TYPE_ID_TO_STR = {code: name for name, code in STORAGE_TYPES.items()}
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = (
    _STORAGE_TYPE_ID_TO_STR
)
py_slice = slice  # operators hide Python's own under `from mxcy.ndarray import *`
_new_empty_handle = state.without_elements  # NDArray(_new_empty_handle()) has no elements yet

__getattr__ = older_paths.offer(__name__, ("mxcy.dlpack", "mxcy._library.c_interface"))


def get_dtype_name(dtype):
    """The name of what names an element type, ``'float32'`` of ``numpy.float32``."""
    return dtypes.name_of(dtypes.code_of(dtype))


class NDArray(front.NDArrayBase, Conversions):
    """A multi-dimensional array of one element type on one device.

    Make arrays with `mx.nd.array`, `zeros`, `ones` and the like.

    Parameters
    ----------
    handle : NDArray or None
        What another array's `handle` gives; the new array shares its memory. With None it has no
        elements until `__setstate__` gives it some: so MXNet's pickles make arrays.
    writable : bool
        Whether the new array may be written to.
    """

    __slots__ = ()

    # NumPy leaves mixed arithmetic to the operand with the higher priority.
    __array_priority__ = 1000.0
    _alive = True  # tests that look for leaks ask what the collector finds

    def __init__(self, handle=(), writable=True):
        if handle is None:
            handle = state.without_elements()
        elif isinstance(handle, ctypes.c_void_p):
            handle = pointers.array_at(handle)
        if not isinstance(handle, NDArray):
            raise TypeError("make arrays with mx.nd.array, mx.nd.zeros and the like")
        self.become(handle)
        self.writable = writable

    # --- what it is ---
    _basic_indexing_slice_is_contiguous = staticmethod(lies_side_by_side)

    @property
    def handle(self):
        """NDArray: the same memory, not on the tape; what the constructor takes."""
        return self.detached()

    @property
    def _as_parameter_(self):
        """The array as ctypes passes it: a pointer, which the constructor takes as well."""
        return pointers.pointer_to(self)

    @property
    def ctx(self):
        """Context: the device that holds the array."""
        return self.context

    device = ctx

    _stype = "default"
    _is_numpy = False  # whether it is an array of `mx.np`

    @property
    def stype(self):
        """str: the storage type: ``'default'`` for dense arrays, ``'row_sparse'`` or ``'csr'``."""
        return self._stype

    @property
    def T(self):
        """NDArray: the array with its axes in reverse order."""
        return self if self.ndim < 2 else F.transpose(self)

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"\n{_shown(self)}\n<{type(self).__name__} {extents} @{self.context}>"

    __str__ = __repr__

    def __bool__(self):
        if self.size > 1:
            raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")
        return self.size == 1 and bool(self.asscalar())

    def _number(self, kind):
        if self.size != 1:
            raise TypeError(f"only an array of one element can be converted to {kind}")
        return self.asscalar()

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    # --- arithmetic that the base class leaves out ---
    def __neg__(self):
        return self * -1

    def __abs__(self):
        return F.abs(self)

    def __iadd__(self, other):
        return arithmetic.in_place(0, self, other)

    def __isub__(self, other):
        return arithmetic.in_place(1, self, other)

    def __imul__(self, other):
        return arithmetic.in_place(2, self, other)

    def __itruediv__(self, other):
        return arithmetic.in_place(3, self, other)

    def __imod__(self, other):
        return arithmetic.in_place(4, self, other)

    # --- pickling ---
    def __reduce__(self):
        return state.reduce_array(self)

    def __setstate__(self, content):
        state.restore_array(self, content)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    # --- indexing ---
    def _get_index(self, key):
        return access.read(self, key)

    def _set_index(self, key, value):
        access.write(self, key, value)

    def slice_assign(self, rhs, begin, end, step) -> "NDArray":
        """Write `rhs` to the elements from `begin` to `end` by `step`; returns the array."""
        return F._slice_assign(self, rhs, begin=begin, end=end, step=step, out=self)

    def slice_assign_scalar(self, value, begin, end, step) -> "NDArray":
        """Write a number to the elements from `begin` to `end` by `step`; returns the array."""
        return F._slice_assign_scalar(self, scalar=value, begin=begin, end=end, step=step, out=self)

    # --- values ---
    @front.shortcut
    def asnumpy(self):
        """The elements as a new NumPy array.

        Returns
        -------
        numpy.ndarray
        """
        began = recorder.api_begin()
        view = self.read_view()
        if began:
            recorder.wait_end("WaitForVar", began)
        values = np.array(view)
        if began:
            recorder.api_end("MXNDArraySyncCopyToCPU", began)
        return values.view(dtypes.bfloat16) if self.dtype_code == dtypes.BFLOAT16 else values

    @front.shortcut
    def asscalar(self) -> "np.generic":
        """The only element as a NumPy scalar.

        Raises
        ------
        ValueError
            When the array has not exactly one element.
        """
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return self.asnumpy().reshape(-1)[0]

    def wait_to_read(self) -> None:
        """Wait until the elements are computed.

        Raises
        ------
        MXNetError
            Or what else the operation failed with that should have computed them.
        """
        began = recorder.api_begin()
        super().wait_to_read()
        if began:
            recorder.wait_end("WaitForVar", began)
            recorder.api_end("MXNDArrayWaitToRead", began)

    def _sync_copyfrom(self, source_array):
        """Copy an array-like object of the same shape to the array."""
        source = np.asarray(source_array)
        if source.shape != self.shape:
            raise ValueError(f"Shape inconsistent: expected {source.shape} vs got {self.shape}")
        self[:] = source

    # --- what others make of it ---
    def _fresh(self, code, context):
        """A new array of this class and shape."""
        return front.empty(self.shape, code, context)

    @property
    def __cuda_array_interface__(self):
        """dict: The memory of an array on a GPU, for CuPy, Numba and others; of no other array."""
        return interface(self)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        return dlpack.device(self)

    # --- shapes ---
    @front.shortcut
    def reshape(self, *shape, **kwargs):
        """A view of the array with another shape of as many elements.

        Parameters
        ----------
        *shape : int, or one tuple of int
            The new extents. 0 copies the extent at this place, -1 stands for what remains, -2
            copies all that remain, -3 joins two, -4 splits one into the two that follow.
        shape : tuple of int
            The same by name.
        reverse : bool
            Read the special numbers from right to left.

        Returns
        -------
        NDArray

        Raises
        ------
        ValueError
            When the new shape has fewer elements.
        MXNetError
            When it has more, or a special number has no meaning.
        """
        wanted, reverse = reshape_arguments(shape, kwargs)
        target = reshaped(self.shape, wanted, reverse)
        return record_reshape(self, target) if is_taped(self) else self.view_as(target)

    def flatten(self, inplace=False) -> "NDArray":
        """The array as a matrix: the first axis and all others; a view with ``inplace=True``."""
        return self.reshape((0, -1)) if inplace else F.flatten(self)

    def expand_dims(self, axis, inplace=False) -> "NDArray":
        """The array with a new axis of extent 1; a view with ``inplace=True``."""
        if inplace:
            return self.reshape(expanded(self.shape, axis))
        return F.expand_dims(self, axis=axis)

    def squeeze(self, axis=None, inplace=False) -> "NDArray":
        """The array without axes of extent 1, or the given ones; a view with ``inplace=True``."""
        if inplace:
            return self.reshape(squeezed(self.shape, axis))
        return F.squeeze(self, axis=axis)

    def broadcast_to(self, shape) -> "NDArray":
        """The array repeated along axes of extent 1 and new leading axes to have `shape`.

        Raises
        ------
        ValueError
            When it cannot be broadcast to that shape.
        """
        padded = broadcastable(self.shape, shape)
        source = self if padded == self.shape else self.reshape(padded)
        return F.broadcast_to(source, shape=tuple(shape))

    def broadcast_like(self, other) -> "NDArray":
        """The array broadcast to the shape of another."""
        return self.broadcast_to(other.shape)

    def diag(self, k=0, **kwargs) -> "NDArray":
        """The k-th diagonal, or a matrix with the array on its k-th diagonal."""
        return F.diag(self, k=k, **kwargs)

    def split_v2(self, *args, **kwargs):
        """The array in parts along an axis; see `mx.nd.split_v2`."""
        return functions.split_v2(self, *args, **kwargs)

    # --- gradients ---
    @property
    def grad(self):
        """NDArray: the gradient that `backward` computes; None without `attach_grad`."""
        node = self.node
        return None if node is None else node.grad

    @property
    def _fresh_grad(self):
        """int: 1 when backward has written the gradient since this was set to False, else 0."""
        return int(self.node is not None and self.node.fresh != 0)

    @_fresh_grad.setter
    def _fresh_grad(self, fresh):
        if self.node is not None:
            self.node.fresh = fresh

    def attach_grad(self, grad_req="write", stype=None) -> None:
        """Make the array a variable with a gradient; it leaves the graph it was part of.

        Parameters
        ----------
        grad_req : {'write', 'add', 'null'}
            Whether `backward` overwrites the gradient, adds to it, or leaves it alone.
        stype : {None, 'default', 'row_sparse', 'csr'}
            The gradient's storage type, the array's own by default.
        """
        gradient = self._zeros(stype or self.stype)
        gradients.mark_variables([self], [gradient], grad_req)

    def _zeros(self, stype):
        """Zeros of the array's shape, dtype and place."""
        if stype != "default":
            return zeros(self.shape, self.context, self.dtype, stype)  # noqa: F405
        zeroed = self._fresh(self.dtype_code, self.context)
        store(zeroed, np.float32(0))
        return zeroed

    def drop_grad(self):
        """Make the array no variable any more."""
        self.node = None

    def detach(self) -> "NDArray":
        """The same memory as an array without gradient."""
        return self.detached()

    def backward(self, out_grad=None, retain_graph=False, train_mode=True) -> None:
        """Compute the gradients of the array with respect to the variables it depends on.

        Parameters
        ----------
        out_grad : NDArray, optional
            The gradient with respect to the array; ones by default.
        retain_graph : bool
            Keep the graph, so that `backward` can run again.
        train_mode : bool
            Whether the pass runs in training mode.
        """
        gradients.backward([self], [out_grad], retain_graph, train_mode)


def _shown(array):
    """What printing shows of an array's elements."""
    if array.dtype_code == dtypes.BFLOAT16:
        return str(reference.widen(array.read_view()))
    return str(array.asnumpy())


fluent.add_methods(NDArray)
