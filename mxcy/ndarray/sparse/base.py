"""Base class of sparse arrays.

A sparse array is an `NDArray` without its own memory: its elements are its parts, ordinary dense
arrays. Writing to it replaces the parts.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy._base.warning import warn
from mxcy._library import front
from mxcy.base import MXNetError, NotSupportedForSparseNDArray, numeric_types
from mxcy.context import Context, check_usable, cpu
from mxcy.ndarray import arithmetic
from mxcy.ndarray.classes import sparse_class
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.register import F
from mxcy.ops.core.stypes import Csr, RowSparse
from mxcy.ops.sparse import compose

__all__ = ["BaseSparseNDArray", "copied", "dense_array", "is_sparse", "nothing_stored", "wrap"]

_INT64 = dtypes.CODES["int64"]


def is_sparse(array):
    """Whether an array is sparse."""
    return isinstance(array, BaseSparseNDArray)


def wrap(parts, code=None, ctx=None):
    """Make a sparse array that shares its parts; with a dtype and context if these are not read."""
    return sparse_class(parts.stype)._of_parts(parts, code, ctx)


def _refused(name, alias=None):
    def method(self, *args):
        raise NotSupportedForSparseNDArray(method, alias, *args)

    method.__name__ = name
    method.__doc__ = "Not supported for sparse arrays."
    return method


class BaseSparseNDArray(NDArray):
    """Base of `CSRNDArray` and `RowSparseNDArray`.

    Parameters
    ----------
    handle : BaseSparseNDArray or None
        An array of the same class, whose parts the new one shares. With None it has no elements
        until `__setstate__` is called.
    writable : bool
        Whether the new array may be written to.
    """

    __slots__ = ("_parts",)

    def __init__(self, handle=None, writable=True):
        if handle is None:
            shape = (0, 0) if self._stype == "csr" else (0,)
            handle = self._empty(shape, dtypes.CODES["float32"], cpu())
        if type(handle) is not type(self):
            raise TypeError("create sparse arrays with mx.nd.sparse.csr_matrix, zeros and so on")
        self.become(handle)
        self.writable = writable

    @classmethod
    def _of_parts(cls, parts, code=None, ctx=None):
        array = cls.__new__(cls)
        array._set_parts(parts, code, ctx)
        return array

    @classmethod
    def _empty(cls, shape, code, ctx):
        """Make an array without stored elements."""
        if cls._stype == "csr" and len(shape) != 2:
            raise ValueError(f"shape of a csr array: expected (rows, columns), got {tuple(shape)}")
        return cls._of_parts(nothing_stored(cls._stype, shape, code, ctx))

    def _set_parts(self, parts, code=None, ctx=None):
        """Set the parts of a blank array."""
        self._parts = parts
        if code is None:
            code, ctx = parts.data.dtype_code, parts.data.context
        front.make_sparse(self, code, ctx)

    def become(self, other):
        """Share the parts of another array; for blank arrays."""
        if type(other) is not type(self):
            raise MXNetError(f"a {type(self).__name__} cannot become a {type(other).__name__}")
        self._set_parts(other._parts)

    def detached(self, cls=None):
        """Make an array with the same parts that is not on the tape."""
        array = wrap(self._parts)
        array.writable = self.writable
        return array

    # --- properties ---
    @property
    def stype(self):
        """str: the storage type."""
        return self._stype

    @property
    def shape(self):
        """Tuple of the extents."""
        return self._parts.shape

    @property
    def ndim(self):
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """Not supported for sparse arrays: raises NotImplementedError."""
        raise NotImplementedError

    @property
    def data(self):
        """NDArray: a copy of the stored elements."""
        return self._parts.data.copy()

    @property
    def indices(self):
        """NDArray: a copy of the indices, int64."""
        return self._parts.indices.copy()

    @data.setter
    def data(self, data):
        raise NotImplementedError

    @indices.setter
    def indices(self, indices):
        raise NotImplementedError

    @property
    def _num_aux(self):
        return len(self._parts.aux)

    @property
    def _aux_types(self):
        return [self._aux_type(i) for i in range(self._num_aux)]

    def _aux_type(self, i):
        return self._parts.aux[i].dtype

    def _aux_data(self, i):
        """Return a copy of index array i."""
        return self._parts.aux[i].copy()

    def _data(self):
        """Return a copy of the stored elements."""
        return self.data

    def __repr__(self):
        extents = "x".join(map(str, self.shape))
        return f"\n<{type(self).__name__} {extents} @{self.context}>"

    __str__ = __repr__

    def __len__(self):
        return self.shape[0]

    def __bool__(self):
        raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")

    def _number(self, kind):
        raise TypeError(f"a sparse array cannot be converted to {kind}")

    def asscalar(self):
        """Not supported for sparse arrays: raises NotImplementedError."""
        raise NotImplementedError

    reshape = _refused("reshape")
    _at = _refused("_at", "[idx]")
    _slice = _refused("_slice")
    numpy_view = _refused("numpy_view")
    read_view = _refused("read_view")
    held_view = _refused("held_view")
    view_as = _refused("view_as")
    view_rows = _refused("view_rows")
    view_bytes = _refused("view_bytes")

    # --- values ---
    def asnumpy(self):
        """Copy all elements to a dense NumPy array."""
        return compose.to_dense(F, self._ordered).asnumpy()

    def __array__(self, dtype=None, copy=None):
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    @property
    def _ordered(self):
        """The parts in the order of operators' inputs."""
        return compose.ordered(F, self._parts)

    @property
    def _stored(self):
        """All parts in order."""
        return self._parts.data, *self._parts.aux

    def wait_to_read(self):
        """Wait until the elements are computed; raises exceptions of their operation."""
        for part in self._stored:
            part.wait_to_read()

    def wait_to_write(self):
        """Wait until no operation reads or writes the elements; raises like `wait_to_read`."""
        for part in self._stored:
            part.wait_to_write()

    @property
    def version(self):
        """A number that changes with each write to the elements."""
        return sum(part.version for part in self._stored)

    def check_format(self, full_check=True):
        """Check that the parts are consistent.

        Parameters
        ----------
        full_check : bool
            Whether to check the values of the indices too, which takes a pass over them.

        Raises
        ------
        MXNetError
            If they are not.
        """
        problem = self._problem(full_check)
        if problem is not None:
            raise MXNetError(f"check_format: {problem}")

    # --- arithmetic: arrays of equal shape use the elementwise operators ---
    def __add__(self, other):
        return arithmetic.combine(0, self, other)

    def __radd__(self, other):
        return arithmetic.combine(0, other, self)

    def __sub__(self, other):
        return arithmetic.combine(1, self, other)

    def __rsub__(self, other):
        return arithmetic.combine(1, other, self)

    def __mul__(self, other):
        return arithmetic.combine(2, self, other)

    def __rmul__(self, other):
        return arithmetic.combine(2, other, self)

    def __truediv__(self, other):
        return arithmetic.combine(3, self, other)

    def __rtruediv__(self, other):
        return arithmetic.combine(3, other, self)

    def __matmul__(self, other):
        return F.dot(self, other)

    def __rmatmul__(self, other):
        return F.dot(other, self)

    # --- indexing ---
    def __getitem__(self, key):
        return self._get_index(key)

    def __setitem__(self, key, value):
        if not self.writable:
            raise ValueError("Cannot assign to a readonly array")
        name = type(self).__name__
        if not isinstance(key, slice):
            assert isinstance(key, (int, tuple)), f"{name}: cannot assign to {key!r}, only to [:]"
            raise self._key_error(f"{name} only supports [:] for assignment")
        if key != slice(None):
            raise ValueError(f"Assignment with slice for {name} is not implemented yet.")
        self._assign(value)

    def _assign(self, value):
        """Replace all elements."""
        name = type(self).__name__
        if isinstance(value, NDArray):
            if value is not self:
                value.copyto(self)
        elif isinstance(value, numeric_types):
            self._fill(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            text = f"Assigning non-NDArray object to {name} is not efficient"
            warn(text, RuntimeWarning)
            dense_array(value, self.dtype).copyto(self)
        else:
            raise TypeError(f"type {type(value)} not supported")

    # --- copies ---
    def copyto(self, other):
        """Copy the elements to another array or another device.

        Parameters
        ----------
        other : NDArray or Context
            A dense array, or one of the same storage type, with the same shape and any dtype, or
            the context of a new array.

        Returns
        -------
        NDArray
            `other`, or the new array; False if `other` is the array itself.

        Raises
        ------
        MXNetError
            If the shapes differ.
        TypeError
            If `other` has another sparse storage type, or is neither array nor context.
        """
        if isinstance(other, Context):
            check_usable(other)
            return wrap(copied(self._parts, other))
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other.stype not in ("default", self.stype):
            text = f"copyto does not support destination NDArray stype {other.stype}"
            raise TypeError(text)
        if other is self:
            message = "You are attempting to copy an array to itself"
            warn(message, RuntimeWarning)
            return False
        if other.shape != self.shape:
            raise MXNetError(
                f"copyto: expected an array of shape {self.shape}, got one of shape {other.shape}"
            )
        if other.stype == "default":
            return compose.to_dense(F, self._ordered).copyto(other)
        other._parts = copied(self._parts, other.context, other.dtype)
        return other

    def astype(self, dtype, copy=True):
        """Cast the array to another dtype.

        Parameters
        ----------
        dtype : dtype, NDArray
            The dtype.
        copy : bool
            False returns the array itself if it already has that dtype.
        """
        data = self._parts.data.astype(dtype)
        if not copy and data.dtype_code == self.dtype_code:
            return self
        return wrap(copied(self._parts._replace(data=data), self.context))

    def tostype(self, stype):
        """Convert a copy to another storage type.

        Parameters
        ----------
        stype : {'default', 'row_sparse', 'csr'}

        Raises
        ------
        ValueError
            For the other sparse storage type.
        MXNetError
            For an unknown one.
        """
        if stype in ("csr", "row_sparse") and stype != self.stype:
            raise ValueError(f"cast_storage from {self.stype} to {stype} is not supported")
        return F.cast_storage(self, stype=stype)


def dense_array(values, dtype):
    """Make a dense array of a dtype on the CPU."""
    code = dtypes.code_of(dtypes.numpy_dtype(dtype))
    values = np.ascontiguousarray(values, dtypes.dtype_of(code))
    return front.from_numpy(values, code, cpu())


def copied(parts, ctx, dtype=None):
    """Copy parts to a context."""
    data = parts.data if dtype is None else parts.data.astype(dtype)
    copies = {name: getattr(parts, name).copyto(ctx) for name in parts._fields if name != "shape"}
    return parts._replace(**copies | {"data": data.copyto(ctx)})


def nothing_stored(stype, shape, code, ctx):
    """Make parts without stored elements.

    Parameters
    ----------
    stype : {'csr', 'row_sparse'}
    shape : tuple of int
    code : int
        The element type.
    ctx : Context
    """
    indices = front.empty((0,), _INT64, ctx)
    if stype == "csr":
        indptr = front.from_numpy(np.zeros(shape[0] + 1, np.int64), _INT64, ctx)
        return Csr(front.empty((0,), code, ctx), indices, indptr, shape)
    return RowSparse(front.empty((0, *shape[1:]), code, ctx), indices, shape)
