"""Batches, and descriptions of their arrays."""

from collections import namedtuple

import numpy as np

__all__ = ["DataBatch", "DataDesc"]


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Tuple (name, shape) of an array in a batch, with further attributes.

    Parameters
    ----------
    name : str
        Name of the network's variable.
    shape : tuple of int
        Shape, including the batch axis.
    dtype : str or type
        The element type.
    layout : str
        One letter per axis; 'N' is the batch axis.
    """

    def __new__(cls, name, shape, dtype=np.float32, layout="NCHW"):
        desc = super().__new__(cls, name, shape)
        desc.dtype = dtype
        desc.layout = layout
        return desc

    def __repr__(self):
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    __str__ = __repr__

    @staticmethod
    def get_batch_axis(layout):
        """Return the position of the batch axis.

        Parameters
        ----------
        layout : str or None
            One letter per axis.

        Returns
        -------
        int
            0 without a layout, -1 if it has no 'N'.
        """
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes, types):
        """Create descriptions from pairs.

        Parameters
        ----------
        shapes : iterable of (str, tuple of int)
            Names and shapes.
        types : iterable of (str, dtype), or None
            Dtypes of all names.

        Returns
        -------
        list of DataDesc
        """
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        types = dict(types)
        return [DataDesc(name, shape, types[name]) for name, shape in shapes]


class DataBatch:
    """The arrays of one training or prediction step.

    Parameters
    ----------
    data : list of NDArray or None
        The inputs.
    label : list of NDArray, optional
        The labels.
    pad : int, optional
        Number of padding samples at the end.
    index : numpy.ndarray, optional
        Indices of the samples in the data set.
    bucket_key : optional
        Key of the batch's bucket.
    provide_data, provide_label : list of DataDesc, optional
        Descriptions of the arrays, if different from the iterator's.

    Raises
    ------
    AssertionError
        If data or labels are not lists.
    """

    def __init__(
        self,
        data,
        label=None,
        pad=None,
        index=None,
        bucket_key=None,
        provide_data=None,
        provide_label=None,
    ):
        if data is not None:
            assert isinstance(data, (list, tuple)), "Data must be list of NDArrays"
        if label is not None:
            assert isinstance(label, (list, tuple)), "Label must be list of NDArrays"
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {data} label shapes: {label}"
