"""Methods of `mx.np.ndarray` that write all its elements, or give them away as they are."""

from contextlib import nullcontext

import numpy as onp

from mxcy._base.files import replacing
from mxcy.numpy._arrays.operators import function

__all__ = ["Elements"]


class Elements:
    """The elements of an array, one after the other."""

    __slots__ = ()

    def fill(self, value):
        """Set all elements to a value."""
        self[...] = value

    @property
    def flat(self):
        """ndarray: the elements along one axis, over the same memory; also to be assigned to."""
        return self.reshape(-1)

    @flat.setter
    def flat(self, values):
        function("put")(self, onp.arange(self.size), values)

    def put(self, indices, values, mode="raise"):
        """Write elements at places in the flattened array; see `mx.np.put`."""
        function("put")(self, indices, values, mode)

    def tobytes(self, order="C"):
        """The elements as bytes.

        Parameters
        ----------
        order : {'C', 'F', 'A'}
            Whether the last or the first axis changes fastest.
        """
        return self.asnumpy().tobytes(order)

    def tofile(self, fid, sep="", format="%s"):
        """Write the elements to a file, as bytes or, with something between them, as text.

        Parameters
        ----------
        fid : str, path or binary file
            A path's file is replaced once everything is written.
        sep : str
            What stands between elements.
        format : str
            How each is written.
        """
        values = self.asnumpy()
        if sep:
            data = sep.join(format % value for value in values.ravel().tolist()).encode()
        else:
            data = values.tobytes()
        with nullcontext(fid) if hasattr(fid, "write") else replacing(fid) as file:
            file.write(data)
