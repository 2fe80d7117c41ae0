"""The classes of sparse arrays.

A sparse array is an `NDArray` without memory of its own: its elements are its parts, ordinary dense
arrays. Writing to it replaces the parts.
"""

import warnings

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError, NotSupportedForSparseNDArray, numeric_types
from mxcy.context import Context, check_usable, cpu
from mxcy.ndarray import arithmetic
from mxcy.ndarray._functions import creation
from mxcy.ndarray.classes import offer_sparse, sparse_class
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.register import F
from mxcy.ndarray.sparse.scipy_arrays import scipy_sparse
from mxcy.ops.core.stypes import Csr, RowSparse
from mxcy.ops.sparse import compose
from mxcy.ops.sparse.parts import csr_problem, row_sparse_problem

__all__ = ["BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "is_sparse", "wrap"]

_INT64 = dtypes.CODES["int64"]


def is_sparse(array):
    """Whether an array is a sparse one."""
    return isinstance(array, BaseSparseNDArray)


def wrap(parts):
    """The sparse array of some parts, which it shares."""
    return sparse_class(parts.stype)._of_parts(parts)


def _refused(name, alias=None):
    def method(self, *args):
        raise NotSupportedForSparseNDArray(method, alias, *args)

    method.__name__ = name
    method.__doc__ = "Sparse arrays have no such method."
    return method


class BaseSparseNDArray(NDArray):
    """What `CSRNDArray` and `RowSparseNDArray` have in common.

    Parameters
    ----------
    handle : BaseSparseNDArray or None
        An array of the same class, whose parts the new one shares. With None it has no elements
        until `__setstate__` gives it some.
    writable : bool
        Whether the new array may be written to.
    """

    __slots__ = ("_parts",)

    def __init__(self, handle=None, writable=True):
        if handle is None:
            shape = (0, 0) if self._stype == "csr" else (0,)
            handle = self._empty(shape, dtypes.CODES["float32"], cpu())
        if type(handle) is not type(self):
            raise TypeError("make sparse arrays with mx.nd.sparse.csr_matrix, zeros and the like")
        self.become(handle)
        self.writable = writable

    @classmethod
    def _of_parts(cls, parts):
        array = cls.__new__(cls)
        array._set_parts(parts)
        return array

    @classmethod
    def _empty(cls, shape, code, ctx):
        """An array that stores nothing."""
        return cls._of_parts(nothing_stored(cls._stype, shape, code, ctx))

    def _set_parts(self, parts):
        """Let a blank array have some parts."""
        self._parts = parts
        front.make_sparse(self, parts.data.dtype_code, parts.data.context)

    def become(self, other):
        """Share the parts of another array, as a blank one must."""
        if type(other) is not type(self):
            raise MXNetError(f"a {type(self).__name__} cannot become a {type(other).__name__}")
        self._set_parts(other._parts)

    def detached(self, cls=None):
        """The same parts as an array that is not on the tape."""
        made = wrap(self._parts)
        made.writable = self.writable
        return made

    # --- what it is ---
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
        """Sparse arrays do not tell a number of elements: NotImplementedError."""
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
        """A copy of the index array number i."""
        return self._parts.aux[i].copy()

    def _data(self):
        """A copy of the stored elements."""
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
        """Sparse arrays are no scalars: NotImplementedError."""
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
        """All elements as a new dense NumPy array."""
        return compose.to_dense(F, self._ordered).asnumpy()

    def __array__(self, dtype=None, copy=None):
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    @property
    def _ordered(self):
        """The parts as operators take them."""
        return compose.ordered(F, self._parts)

    @property
    def _stored(self):
        """All parts, one after the other."""
        return self._parts.data, *self._parts.aux

    def wait_to_read(self):
        """Wait until the elements are computed; raises what their operation failed with."""
        for part in self._stored:
            part.wait_to_read()

    def wait_to_write(self):
        """Wait until nothing reads or writes the elements any more; raises like `wait_to_read`."""
        for part in self._stored:
            part.wait_to_write()

    @property
    def version(self):
        """A number that changes with each write to the elements."""
        return sum(part.version for part in self._stored)

    def check_format(self, full_check=True):
        """Check that the parts fit together.

        Parameters
        ----------
        full_check : bool
            Whether the values of the indices are checked, too; this takes a pass over them.

        Raises
        ------
        MXNetError
            When they do not.
        """
        problem = self._problem(full_check)
        if problem is not None:
            raise MXNetError(f"check_format: {problem}")

    # --- arithmetic: arrays of one shape are combined by the elementwise operators ---
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
        self._check_key(key)
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
            warnings.warn(text, RuntimeWarning, stacklevel=3)
            _dense_array(value, self.dtype).copyto(self)
        else:
            raise TypeError(f"type {type(value)} not supported")

    # --- copies ---
    def copyto(self, other):
        """Copy the elements to another array or another device.

        Parameters
        ----------
        other : NDArray or Context
            A dense array, or one of the same storage type, of the same shape, whose dtype may
            differ; or where the new array shall be.

        Returns
        -------
        NDArray
            `other`, or the new array; False when `other` is the array itself.

        Raises
        ------
        MXNetError
            When the shapes differ.
        TypeError
            When `other` has another sparse storage type, or is neither array nor context.
        """
        if isinstance(other, Context):
            check_usable(other)
            return wrap(_moved(self._parts, other))
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other.stype not in ("default", self.stype):
            text = f"copyto does not support destination NDArray stype {other.stype}"
            raise TypeError(text)
        if other is self:
            message = "You are attempting to copy an array to itself"
            warnings.warn(message, RuntimeWarning, stacklevel=2)
            return False
        if other.shape != self.shape:
            raise MXNetError(
                f"copyto: expected an array of shape {self.shape}, got one of shape {other.shape}"
            )
        if other.stype == "default":
            return compose.to_dense(F, self._ordered).copyto(other)
        other._parts = _moved(self._parts, other.context, other.dtype)
        return other

    def astype(self, dtype, copy=True):
        """The array with another element type and the same storage type.

        Parameters
        ----------
        dtype : dtype, NDArray
            Names an element type.
        copy : bool
            False returns the array itself when it has that type already.
        """
        data = self._parts.data.astype(dtype)
        if not copy and data.dtype_code == self.dtype_code:
            return self
        return wrap(_moved(self._parts._replace(data=data), self.context))

    def tostype(self, stype):
        """A copy with another storage type.

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


def _dense_array(values, dtype):
    code = dtypes.code_of(dtypes.numpy_dtype(dtype))
    values = np.ascontiguousarray(values, dtypes.dtype_of(code))
    return front.from_numpy(values, code, cpu())


def _moved(parts, ctx, dtype=None):
    """Copies of parts on a context."""
    data = parts.data if dtype is None else parts.data.astype(dtype)
    copies = {name: getattr(parts, name).copyto(ctx) for name in parts._fields if name != "shape"}
    return parts._replace(**copies | {"data": data.copyto(ctx)})


def nothing_stored(stype, shape, code, ctx):
    """Parts that store nothing.

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


@offer_sparse
class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse rows.

    Row i has the elements ``data[indptr[i]:indptr[i + 1]]`` in the columns
    ``indices[indptr[i]:indptr[i + 1]]``, which ascend; all others are zero. Make them with
    `mx.nd.sparse.csr_matrix`, `zeros`, `array`, or by ``dense.tostype('csr')``.
    """

    __slots__ = ()
    _stype = "csr"

    @property
    def indptr(self):
        """NDArray: a copy of the bounds of the rows, int64."""
        return self._parts.indptr.copy()

    @indptr.setter
    def indptr(self, indptr):
        raise NotImplementedError

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _get_index(self, key):
        if isinstance(key, (int, np.integer)):
            row, rows = int(key), self.shape[0]
            if not -rows <= row < rows:
                raise IndexError(f"row {row} is out of bounds for {rows} rows")
            row += rows if row < 0 else 0
            return F.slice(self, begin=(row,), end=(row + 1,))
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        if not isinstance(key, slice):
            raise ValueError(f"Undefined behaviour for {key}")
        if key.step not in (None, 1):
            raise ValueError("CSRNDArray only supports continuous slicing on axis 0")
        if key.start is None and key.stop is None:
            return self
        start, stop, _ = key.indices(self.shape[0])
        return F.slice(self, begin=(start,), end=(max(start, stop),))

    def _check_key(self, key):
        if not isinstance(key, slice):
            raise Exception("CSRNDArray only supports [:] for assignment")
        if key != slice(None):
            raise ValueError("Assignment with slice for CSRNDArray is not implemented yet.")

    def _fill(self, number):
        raise ValueError("Assigning numeric types to CSRNDArray is not implemented yet.")

    def _problem(self, full):
        parts = self._parts
        nnz = parts.data.shape[0]
        return csr_problem(parts.indices.asnumpy(), parts.indptr.asnumpy(), nnz, self.shape, full)

    @classmethod
    def _of_scipy(cls, source, ctx, dtype):
        """The array of one of scipy's, whose entries are sorted and added up."""
        source = source.tocsr(copy=True)
        source.sum_duplicates()
        source.sort_indices()
        data = creation.array(source.data, ctx, dtype or source.data.dtype)
        places = (np.array(part, np.int64) for part in (source.indices, source.indptr))
        indices, indptr = (front.from_numpy(part, _INT64, data.context) for part in places)
        return cls._of_parts(Csr(data, indices, indptr, tuple(source.shape)))

    def asscipy(self):
        """The array as a `scipy.sparse.csr_matrix`.

        Raises
        ------
        ImportError
            When scipy is not installed.
        """
        parts = tuple(getattr(self._parts, n).asnumpy() for n in ("data", "indices", "indptr"))
        return scipy_sparse("asscipy").csr_matrix(parts, shape=self.shape, dtype=self.dtype)


@offer_sparse
class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores some of its rows; all others are zero.

    ``data[i]`` is row ``indices[i]``; the indices ascend. Make them with
    `mx.nd.sparse.row_sparse_array`, `zeros`, `array`, or by ``dense.tostype('row_sparse')``.
    """

    __slots__ = ()
    _stype = "row_sparse"

    def __iter__(self):
        raise TypeError("a RowSparseNDArray cannot be iterated")

    def _get_index(self, key):
        if isinstance(key, (int, np.integer)):
            raise Exception("__getitem__ with int key is not implemented for RowSparseNDArray yet")
        if isinstance(key, slice) and key == slice(None):
            return self
        if isinstance(key, slice):
            raise Exception("RowSparseNDArray only supports [:] for __getitem__")
        raise ValueError(f"Undefined behaviour for {key}")

    def _check_key(self, key):
        if not isinstance(key, slice) or key != slice(None):
            raise TypeError("RowSparseNDArray only supports [:] for assignment")

    def _fill(self, number):
        rows = self.shape[0]
        data = front.empty(self.shape, self.dtype_code, self.context)
        data[:] = number
        ids = front.from_numpy(np.arange(rows, dtype=np.int64), _INT64, self.context)
        self._parts = RowSparse(data, ids, self.shape)

    @classmethod
    def _with_all_rows(cls, dense):
        """The array that stores all rows of a dense one, those of zeros as well."""
        return cls._of_parts(compose.all_rows_of(F, dense.copy()))

    def _problem(self, full):
        parts = self._parts
        if parts.data.shape[1:] != self.shape[1:]:
            return f"shapes: rows of shape {parts.data.shape[1:]} in an array of {self.shape}"
        return row_sparse_problem(parts.indices.asnumpy(), parts.data.shape[0], self.shape, full)

    def retain(self, *args, **kwargs):
        """The rows with the given ids, others dropped; see `mx.nd.sparse.retain`."""
        return F._sparse_retain(self, *args, **kwargs)
