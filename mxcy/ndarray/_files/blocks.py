"""Arrays as stored in files, independent of the NDArray classes."""

import dataclasses

import numpy as np

from mxcy._base.dtypes import code_of

__all__ = ["AUX_NAMES", "Block", "bytes_of", "check_sparse"]

#: storage type -> names of its index arrays, in file order
AUX_NAMES = {"default": (), "row_sparse": ("indices",), "csr": ("indptr", "indices")}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Block:
    """An array read from or written to a file.

    Parameters
    ----------
    data : numpy.ndarray
        All values, or the stored values of a sparse array.
    shape : tuple of int, optional
        Shape of the array; required for sparse arrays, otherwise that of `data`.
    stype : {'default', 'row_sparse', 'csr'}
        The storage type.
    aux : tuple of numpy.ndarray
        The index arrays, as `AUX_NAMES` lists them.
    device : tuple of int
        Device type code and device number, as in `mxcy.context.Context`.
    """

    data: np.ndarray
    shape: tuple = None
    stype: str = "default"
    aux: tuple = ()
    device: tuple = (1, 0)

    def __post_init__(self):
        if self.shape is None:
            object.__setattr__(self, "shape", self.data.shape)

    @property
    def dtype_code(self):
        """int: MXNet's code of the element type."""
        return code_of(self.data.dtype)


def check_sparse(block, refuse):
    """Check that a sparse array's parts are consistent and its indices within bounds.

    Parameters
    ----------
    block : Block
        A row_sparse or csr array; its `aux` must be 1-dimensional integer arrays.
    refuse : callable
        Makes the exception to raise from a message.
    """
    shape, stored = block.shape, block.data.shape
    if any(dim < 0 for dim in shape):
        raise refuse(f"a sparse array of shape {shape}")
    if block.stype == "row_sparse":
        (rows,) = block.aux
        if not shape or stored != (len(rows), *shape[1:]):
            raise refuse(f"row_sparse data of shape {stored}, {len(rows)} row ids, shape {shape}")
        _check_range(rows, shape[0], "row ids", refuse)
        return
    indptr, columns = block.aux
    if len(shape) != 2 or stored != (len(columns),):
        raise refuse(f"csr data of shape {stored}, {len(columns)} column ids, shape {shape}")
    if not len(indptr) and not len(columns):
        return  # an all-zero array without allocated memory
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or indptr[-1] != len(columns):
        raise refuse(f"csr row pointers that do not fit {len(columns)} values, shape {shape}")
    if (indptr[1:] < indptr[:-1]).any():
        raise refuse("csr row pointers in descending order")
    _check_range(columns, shape[1], "column ids", refuse)


def _check_range(indices, end, what, refuse):
    if len(indices) and not (0 <= indices.min() and indices.max() < end):
        raise refuse(f"{what} outside 0 to {end - 1}")


def bytes_of(data):
    """The bytes of an array in C order, copied only if necessary."""
    return memoryview(np.ascontiguousarray(data).reshape(-1).view(np.uint8))
