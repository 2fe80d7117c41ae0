"""Arrays as others: copies, on other devices, of other types, classes and storage types."""

from mxcy.ndarray import classes, copies
from mxcy.ndarray._exchange import dlpack
from mxcy.ndarray.register import F
from mxcy.ndarray.tape import as_class

__all__ = ["Conversions"]


class Conversions:
    """The part of `NDArray` that makes other arrays of the same elements."""

    __slots__ = ()

    def copy(self):
        """A copy on the same device.

        Returns
        -------
        NDArray
        """
        return self.copyto(self.context)

    def copyto(self, other):
        """Copy the elements to another array or another device.

        Parameters
        ----------
        other : NDArray or Context
            An array of the same shape, whose dtype and storage type may differ, or where the new
            array shall be.

        Returns
        -------
        NDArray
            `other`, or the new array; False when `other` is the array itself.

        Raises
        ------
        MXNetError
            When the shapes differ.
        TypeError
            When `other` is neither an array nor a context.
        """
        return copies.copyto(self, other)

    def astype(self, dtype, copy=True):
        """The array with another element type.

        Parameters
        ----------
        dtype : dtype, NDArray
            Names an element type; None means float32, an array its own.
        copy : bool
            False returns the array itself when it has that type already.

        Returns
        -------
        NDArray

        Raises
        ------
        TypeError
            When `dtype` names no type.
        """
        return copies.astype(self, dtype, copy)

    def as_in_context(self, context) -> "NDArray":  # noqa: F821  the class itself
        """The array on a device: itself when it is there already, otherwise a copy."""
        return self if self.context == context else self.copyto(context)

    def as_nd_ndarray(self) -> "NDArray":  # noqa: F821  the class itself
        """The array itself."""
        return self

    def as_np_ndarray(self):
        """The same memory, gradient and history as an array of `mx.np`."""
        return as_class(self, classes.numpy_class())

    def tostype(self, stype) -> "NDArray":  # noqa: F821  the class itself
        """A copy with another storage type.

        Parameters
        ----------
        stype : {'default', 'row_sparse', 'csr'}
            Of a dense array, a csr one stores the elements that are not zero, a row_sparse one the
            rows in which not all is zero.

        Raises
        ------
        ValueError
            When a csr array is wanted of an array that is no matrix.
        MXNetError
            For an unknown storage type.
        """
        if stype == "csr" and self.ndim != 2:
            raise ValueError(
                "To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is "
                f"{self.shape}"
            )
        return F.cast_storage(self, stype=stype)

    def to_dlpack_for_read(self):
        """A DLPack capsule of the array, for reading."""
        return dlpack.to_dlpack_for_read(self)

    def to_dlpack_for_write(self):
        """A DLPack capsule of the array, for reading and writing."""
        return dlpack.to_dlpack_for_write(self)
