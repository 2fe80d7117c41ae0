"""ONNX files: checked before they are written, and replaced as a whole."""

import logging
import os
import shutil
import tempfile

from mxcy._base.files import local_path, replacing
from mxcy.onnx.package import onnx_package

__all__ = ["write_model"]

#: protobuf's messages end at 2 GiB; above this the tensors go to a file of their own
MOST_BYTES = 1_800_000_000


def write_model(model, path, infer_shapes=False, large=False):
    """Check a model and write it.

    Parameters
    ----------
    model : ModelProto
    path : str
    infer_shapes : bool
        Whether ONNX shall note the shapes of all tensors, if it can.
    large : bool
        Whether tensors go to ``<path>.data`` in any case.
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
        except Exception as error:  # it raises anything, and the model is as good without
            logging.info("Shape inference failed, original export is kept: %s", error)
    data = model.SerializeToString()
    onnx.checker.check_model(data)
    with replacing(path) as file:
        file.write(data)


def _write_apart(onnx, model, path):
    """Write tensors to a file beside the model; readers never see one without the other's names."""
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
