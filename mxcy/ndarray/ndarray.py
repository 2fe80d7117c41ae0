"""`mx.nd.NDArray`, the array of the classic interface.

The front's base class provides memory, views and arithmetic; this class adds what is not critical
for speed. `fluent` adds every operator with a lower-case name as a method of its first input.
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
    """Return the name of a dtype, such as ``'float32'`` for ``numpy.float32``."""
    return dtypes.name_of(dtypes.code_of(dtype))


class NDArray(front.NDArrayBase, Conversions):
    """A multi-dimensional array of one element type on one device.

    Create arrays with `mx.nd.array`, `zeros`, `ones` and so on.

    Parameters
    ----------
    handle : NDArray or None
        Another array's `handle`; the new array shares its memory. With None it has no elements
        until `__setstate__` is called, as MXNet's pickles do.
    writable : bool
        Whether the new array may be written to.
    """

    __slots__ = ()

    # NumPy defers mixed arithmetic to the operand with the higher priority.
    __array_priority__ = 1000.0
    _alive = True  # used by tests that look for leaks

    def __init__(self, handle=(), writable=True):
        if handle is None:
            handle = state.without_elements()
        elif isinstance(handle, ctypes.c_void_p):
            handle = pointers.array_at(handle)
        if not isinstance(handle, NDArray):
            raise TypeError("create arrays with mx.nd.array, mx.nd.zeros and so on")
        self.become(handle)
        self.writable = writable

    # --- properties ---
    _basic_indexing_slice_is_contiguous = staticmethod(lies_side_by_side)

    @property
    def handle(self):
        """NDArray: the same memory detached from the tape, for the constructor."""
        return self.detached()

    @property
    def _as_parameter_(self):
        """The array's pointer for ctypes, which the constructor accepts as well."""
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

    # --- arithmetic that the base class lacks ---
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
        """Copy the elements to a NumPy array.

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
        """Return the only element as a NumPy scalar.

        Raises
        ------
        ValueError
            If the array does not have exactly one element.
        """
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        return self.asnumpy().reshape(-1)[0]

    @front.shortcut
    def wait_to_read(self) -> None:
        """Wait until the elements are computed.

        Raises
        ------
        MXNetError
            Or another exception of the operation that should have computed them.
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

    # --- exchange with other libraries ---
    def _fresh(self, code, context):
        """Allocate an array of this class and shape."""
        return front.empty(self.shape, code, context)

    @property
    def __cuda_array_interface__(self):
        """dict: memory of an array on a GPU, for CuPy, Numba and others."""
        return interface(self)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return dlpack.export(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        return dlpack.device(self)

    # --- shapes ---
    @front.shortcut
    def reshape(self, *shape, **kwargs):
        """Return a view of the array with another shape of the same size.

        Parameters
        ----------
        *shape : int, or one tuple of int
            The new shape. 0 copies the dimension at this position, -1 is inferred, -2 copies all
            remaining ones, -3 merges two, -4 splits one into the two that follow.
        shape : tuple of int
            The new shape by keyword.
        reverse : bool
            Whether to interpret the special values from right to left.

        Returns
        -------
        NDArray

        Raises
        ------
        ValueError
            If the new shape has fewer elements.
        MXNetError
            If it has more, or a special value is invalid.
        """
        wanted, reverse = reshape_arguments(shape, kwargs)
        target = reshaped(self.shape, wanted, reverse)
        return record_reshape(self, target) if is_taped(self) else self.view_as(target)

    def flatten(self, inplace=False) -> "NDArray":
        """Merge all axes but the first one, to a matrix; a view with ``inplace=True``."""
        return self.reshape((0, -1)) if inplace else F.flatten(self)

    def expand_dims(self, axis, inplace=False) -> "NDArray":
        """Insert an axis of size 1; a view with ``inplace=True``."""
        if inplace:
            return self.reshape(expanded(self.shape, axis))
        return F.expand_dims(self, axis=axis)

    def squeeze(self, axis=None, inplace=False) -> "NDArray":
        """Remove axes of size 1, all or the given ones; a view with ``inplace=True``."""
        if inplace:
            return self.reshape(squeezed(self.shape, axis))
        return F.squeeze(self, axis=axis)

    def broadcast_to(self, shape) -> "NDArray":
        """Broadcast the array to `shape`, along axes of size 1 and new leading axes.

        Raises
        ------
        ValueError
            If it cannot be broadcast to that shape.
        """
        padded = broadcastable(self.shape, shape)
        source = self if padded == self.shape else self.reshape(padded)
        return F.broadcast_to(source, shape=tuple(shape))

    def broadcast_like(self, other) -> "NDArray":
        """Broadcast the array to the shape of another one."""
        return self.broadcast_to(other.shape)

    def diag(self, k=0, **kwargs) -> "NDArray":
        """Return the k-th diagonal, or a matrix with the array on its k-th diagonal."""
        return F.diag(self, k=k, **kwargs)

    def split_v2(self, *args, **kwargs):
        """Split the array along an axis; see `mx.nd.split_v2`."""
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
        """Make the array a variable with a gradient, detached from any graph.

        Parameters
        ----------
        grad_req : {'write', 'add', 'null'}
            Whether `backward` overwrites the gradient, adds to it, or leaves it alone.
        stype : {None, 'default', 'row_sparse', 'csr'}
            The gradient's storage type, by default the array's.
        """
        gradient = self._zeros(stype or self.stype)
        gradients.mark_variables([self], [gradient], grad_req)

    def _zeros(self, stype):
        """Zeros with the array's shape, dtype and context."""
        if stype != "default":
            return zeros(self.shape, self.context, self.dtype, stype)  # noqa: F405
        zeroed = self._fresh(self.dtype_code, self.context)
        store(zeroed, np.float32(0))
        return zeroed

    def drop_grad(self):
        """Drop the gradient, so that the array is no longer a variable."""
        self.node = None

    def detach(self) -> "NDArray":
        """Return an array with the same memory but without gradient."""
        return self.detached()

    def backward(self, out_grad=None, retain_graph=False, train_mode=True) -> None:
        """Compute the gradients of the array with respect to the variables it depends on.

        Parameters
        ----------
        out_grad : NDArray, optional
            The gradient with respect to the array, by default ones.
        retain_graph : bool
            Whether to keep the graph for another `backward`.
        train_mode : bool
            Whether the pass runs in training mode.
        """
        gradients.backward([self], [out_grad], retain_graph, train_mode)


def _shown(array):
    """Format an array's elements for printing."""
    if array.dtype_code == dtypes.BFLOAT16:
        return str(reference.widen(array.read_view()))
    return str(array.asnumpy())


fluent.add_methods(NDArray)
