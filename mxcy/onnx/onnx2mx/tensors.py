"""Conversion of TensorProto to NumPy, with validation."""

import math
import os

import numpy as np
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from mxcy._base import dtypes
from mxcy.base import MXNetError

__all__ = ["MOST_BYTES", "Folder", "code_of", "to_numpy"]

#: maximum size of a tensor in bytes
MOST_BYTES = 1 << 36

_CODES = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.INT8: "int8",
    TensorProto.INT16: "int16",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.UINT8: "uint8",
    TensorProto.UINT16: "uint16",
    TensorProto.UINT32: "uint32",
    TensorProto.UINT64: "uint64",
    TensorProto.BOOL: "bool",
}


def code_of(elem_type, what="a tensor"):
    """The dtype code of an ONNX element type.

    Raises
    ------
    NotImplementedError
        For dtypes that mxcy lacks.
    """
    if elem_type not in _CODES:
        known = elem_type in TensorProto.DataType.values()
        name = TensorProto.DataType.Name(elem_type) if known else elem_type
        raise NotImplementedError(f"{what}: element type {name} is not implemented")
    return dtypes.CODES[_CODES[elem_type]]


class Folder:
    """Folder of a model's external data; files outside are never opened."""

    def __init__(self, path=None):
        self.path = None if path is None else os.path.realpath(path)

    def read(self, tensor):
        """Read a tensor's external data.

        Raises
        ------
        MXNetError
            If the location is outside the folder, not a regular file, or too short.
        """
        fields = {entry.key: entry.value for entry in tensor.external_data}
        what = f"tensor {tensor.name!r}: external data"
        location = fields.get("location", "")
        if self.path is None:
            raise MXNetError(f"{what} at {location!r}: the model has no folder to look in")
        path = os.path.realpath(os.path.join(self.path, location))
        inside = not os.path.isabs(location) and ".." not in location.replace("\\", "/").split("/")
        if not location or not inside or os.path.dirname(path + "/").find(self.path + os.sep) != 0:
            raise MXNetError(f"{what}: {location!r} is not a file below the model's folder")
        if not os.path.isfile(path):
            raise MXNetError(f"{what}: file {location!r} not found in the model's folder")
        try:
            offset, size = int(fields.get("offset", 0)), os.path.getsize(path)
            length = int(fields.get("length", size - offset))
        except ValueError:
            raise MXNetError(f"{what}: offset and length must be integers, got {fields}") from None
        if offset < 0 or length < 0 or offset + length > size:
            raise MXNetError(
                f"{what}: bytes {offset} to {offset + length} of {location!r}, which has {size}"
            )
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(length)


def to_numpy(tensor, folder=None):
    """Return a tensor's elements and dtype code; bfloat16 as float32.

    Raises
    ------
    MXNetError
        If the data do not fit the shape; the message names the tensor.
    NotImplementedError
        For dtypes that mxcy lacks.
    """
    what = f"tensor {tensor.name!r}"
    shape = tuple(tensor.dims)
    if min(shape, default=0) < 0:
        raise MXNetError(f"{what}: negative extents in {shape}")
    code = code_of(tensor.data_type, what)
    size = math.prod(shape)
    if size * dtypes.DTYPES[code].itemsize > MOST_BYTES:
        raise MXNetError(f"{what}: shape {shape} is more than {MOST_BYTES >> 30} GiB")
    if external_data_helper.uses_external_data(tensor):
        raw = (folder or Folder()).read(tensor)
    elif tensor.HasField("raw_data"):
        raw = tensor.raw_data
    else:
        raw = None
    stored = np.dtype(np.uint16) if code == dtypes.CODES["bfloat16"] else dtypes.DTYPES[code]
    if raw is not None:
        if len(raw) != size * stored.itemsize:
            raise MXNetError(
                f"{what}: shape {shape} of {dtypes.name_of(code)} takes "
                f"{size * stored.itemsize} bytes, there are {len(raw)}"
            )
        array = np.frombuffer(raw, stored.newbyteorder("<")).astype(stored, copy=False)
        if code == dtypes.CODES["bfloat16"]:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.reshape(shape), code
    field = helper.tensor_dtype_to_field(tensor.data_type)
    there = len(getattr(tensor, field))
    if there != size:
        raise MXNetError(f"{what}: shape {shape} has {size} elements, {field} holds {there}")
    array = numpy_helper.to_array(tensor)
    if code == dtypes.CODES["bfloat16"]:
        array = array.astype(np.float32)
    return array.reshape(shape), code
