"""Reading model files, and refusing what is none."""

import os

from mxcy.base import MXNetError
from mxcy.onnx.package import onnx_package

__all__ = ["opsets_of", "read"]

#: protobuf refuses longer messages
_MOST_BYTES = (1 << 31) - 1


def read(model_file):
    """A model and the folder of its external data.

    Parameters
    ----------
    model_file : str, path or ModelProto

    Returns
    -------
    (ModelProto, str or None)

    Raises
    ------
    MXNetError
        When the file is no ONNX model.
    FileNotFoundError
        When there is none.
    """
    onnx = onnx_package()
    if isinstance(model_file, onnx.ModelProto):
        return model_file, None
    path = os.fspath(model_file)
    if os.path.getsize(path) > _MOST_BYTES:
        raise MXNetError(f"{path}: more than 2 GiB, which no ONNX model has without external data")
    with open(path, "rb") as file:
        data = file.read()
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf's own, of whichever implementation
        raise MXNetError(f"{path}: no ONNX model, or only a part of one ({error})") from error
    if not model.HasField("graph"):
        raise MXNetError(f"{path}: the model has no graph")
    return model, os.path.dirname(os.path.abspath(path))


def opsets_of(model):
    """Domain -> version.

    Raises
    ------
    ValueError
        When the model does not say which operators it uses, or of a future version.
    """
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    if not opsets:
        raise ValueError("the model does not say which opset it uses: opset_import is empty")
    own = opsets.get("", opsets.get("ai.onnx"))
    newest = onnx_package().defs.onnx_opset_version()
    if own is not None and not 1 <= own <= newest:
        raise ValueError(f"the model uses opset {own}; the installed onnx knows 1 to {newest}")
    return opsets
