"""Reading and validation of model files."""

import os

from mxcy.base import MXNetError
from mxcy.onnx.package import onnx_package

__all__ = ["opsets_of", "read"]

#: maximum size of protobuf messages
_MOST_BYTES = (1 << 31) - 1


def read(model_file):
    """Read a model; return it and the folder of its external data.

    Parameters
    ----------
    model_file : str, path or ModelProto

    Returns
    -------
    (ModelProto, str or None)

    Raises
    ------
    MXNetError
        If the file is not an ONNX model.
    FileNotFoundError
        If the file does not exist.
    """
    onnx = onnx_package()
    if isinstance(model_file, onnx.ModelProto):
        return model_file, None
    path = os.fspath(model_file)
    if os.path.getsize(path) > _MOST_BYTES:
        raise MXNetError(f"{path}: larger than 2 GiB, the limit of models without external data")
    with open(path, "rb") as file:
        data = file.read()
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # of any protobuf implementation
        raise MXNetError(f"{path}: not an ONNX model, or truncated ({error})") from error
    if not model.HasField("graph"):
        raise MXNetError(f"{path}: the model has no graph")
    return model, os.path.dirname(os.path.abspath(path))


def opsets_of(model):
    """Return domain -> opset version.

    Raises
    ------
    ValueError
        If the model does not specify its opset, or uses a newer one.
    """
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    if not opsets:
        raise ValueError("the model does not specify its opset: opset_import is empty")
    own = opsets.get("", opsets.get("ai.onnx"))
    newest = onnx_package().defs.onnx_opset_version()
    if own is not None and not 1 <= own <= newest:
        raise ValueError(f"the model uses opset {own}; the installed onnx knows 1 to {newest}")
    return opsets
