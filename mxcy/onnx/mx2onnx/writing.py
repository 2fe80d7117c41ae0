"""Checking and atomic writing of ONNX files."""

import logging
import os
import shutil
import tempfile

from mxcy._base.files import local_path, replacing
from mxcy.onnx.package import onnx_package

__all__ = ["write_model"]

#: bytes above which tensors go to a separate file, as protobuf messages are limited to 2 GiB
MOST_BYTES = 1_800_000_000


def write_model(model, path, infer_shapes=False, large=False):
    """Check a model and write it.

    Parameters
    ----------
    model : ModelProto
    path : str
    infer_shapes : bool
        Store inferred shapes of all tensors, if possible.
    large : bool
        Always store tensors in ``<path>.data``.
    """
    onnx = onnx_package()
    path = local_path(path)
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    if large or size > MOST_BYTES:
        _write_apart(onnx, model, path)
        return
    if infer_shapes:
        try:
            model = onnx.shape_inference.infer_shapes(model)
        except Exception as error:  # may raise arbitrary errors, and the model is valid without
            logging.info("Shape inference failed, original export is kept: %s", error)
    data = model.SerializeToString()
    onnx.checker.check_model(data)
    with replacing(path) as file:
        file.write(data)


def _write_apart(onnx, model, path):
    """Write tensors to a separate file, such that readers never see inconsistent files."""
    folder, base = os.path.split(os.path.abspath(path))
    draft = tempfile.mkdtemp(prefix=f".{base[:32]}.", suffix=".new", dir=folder)
    try:
        onnx.save_model(
            model,
            os.path.join(draft, base),
            save_as_external_data=True,
            all_tensors_to_one_file=True,
            location=f"{base}.data",
            size_threshold=1024,
        )
        onnx.checker.check_model(os.path.join(draft, base))
        for name in (f"{base}.data", base):
            if os.path.exists(os.path.join(draft, name)):
                os.replace(os.path.join(draft, name), os.path.join(folder, name))
    finally:
        shutil.rmtree(draft, ignore_errors=True)
