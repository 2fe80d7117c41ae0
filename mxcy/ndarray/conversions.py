"""Conversion methods of arrays: copies, devices, dtypes, classes and storage types."""

from mxcy.ndarray import classes, copies
from mxcy.ndarray._exchange import dlpack
from mxcy.ndarray.register import F
from mxcy.ndarray.tape import as_class

__all__ = ["Conversions"]


class Conversions:
    """Mix-in of `NDArray` with its conversion methods."""

    __slots__ = ()

    def copy(self):
        """Return a copy on the same device.

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
            An array of the same shape, with any dtype and storage type, or the context of a new
            array.

        Returns
        -------
        NDArray
            `other`, or the new array; False if `other` is the array itself.

        Raises
        ------
        MXNetError
            If the shapes differ.
        TypeError
            If `other` is neither an array nor a context.
        """
        return copies.copyto(self, other)

    def astype(self, dtype, copy=True):
        """Cast the array to another dtype.

        Parameters
        ----------
        dtype : dtype, NDArray
            The dtype; None means float32, an array its dtype.
        copy : bool
            False returns the array itself if it already has that dtype.

        Returns
        -------
        NDArray

        Raises
        ------
        TypeError
            If `dtype` specifies no type.
        """
        return copies.astype(self, dtype, copy)

    def as_in_context(self, context) -> "NDArray":  # noqa: F821  the class itself
        """Return the array if it is on that device, otherwise a copy there."""
        return self if self.context == context else self.copyto(context)

    def as_nd_ndarray(self) -> "NDArray":  # noqa: F821  the class itself
        """Return the array itself."""
        return self

    def as_np_ndarray(self):
        """Return an array of `mx.np` with the same memory, gradient and history."""
        return as_class(self, classes.numpy_class())

    def tostype(self, stype) -> "NDArray":  # noqa: F821  the class itself
        """Convert a copy to another storage type.

        Parameters
        ----------
        stype : {'default', 'row_sparse', 'csr'}
            A csr array stores the nonzero elements, a row_sparse array the rows with nonzero
            elements.

        Raises
        ------
        ValueError
            If a csr array is requested and the array is not a matrix.
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
        """Make a DLPack capsule of the array for reading."""
        return dlpack.to_dlpack_for_read(self)

    def to_dlpack_for_write(self):
        """Make a DLPack capsule of the array for reading and writing."""
        return dlpack.to_dlpack_for_write(self)
