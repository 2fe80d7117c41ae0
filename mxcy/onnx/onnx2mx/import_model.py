"""Import a model file."""

from mxcy.onnx.onnx2mx.reading import opsets_of, read

__all__ = ["get_model_metadata", "import_model"]


def _of_file(model_file):
    """(an importer, the graph, what its methods need besides)."""
    model, folder = read(model_file)
    # The rows need the package onnx, which `read` asks for with a better message.
    from mxcy.onnx.onnx2mx.import_onnx import GraphProto

    opsets = opsets_of(model)
    version = opsets.get("", opsets.get("ai.onnx", max(opsets.values())))
    parts = {"functions": list(model.functions), "opsets": opsets, "folder": folder}
    return GraphProto(), model.graph, version, parts


def import_model(model_file, input_shapes=None, *, input_values=None):
    """Import an ONNX model.

    Parameters
    ----------
    model_file : str, path or onnx.ModelProto
    input_shapes : dict of str to tuple, optional
        Shapes of inputs, where the file leaves them open and the graph computes with them (not
        only copies them, as most do), or where others than the file's are meant.
    input_values : dict of str to numpy.ndarray, optional
        Inputs that become constants, such as the target shape of a Reshape.

    Returns
    -------
    sym : Symbol
        Its variables are named as in the file.
    arg_params, aux_params : dict of str to NDArray
        Its parameters and auxiliary states.

    Raises
    ------
    NotImplementedError
        When the model has operators that are neither known nor defined by others.
    ValueError
        When the model does not say which opset it uses.
    MXNetError
        When the file is damaged, or something that has to be known while importing is not; it
        names the node, and the attribute or input.
    ImportError
        When the package `onnx` is missing.
    """
    importer, graph, version, parts = _of_file(model_file)
    return importer.from_onnx(graph, version, input_shapes, input_values=input_values, **parts)


def get_model_metadata(model_file):
    """Names and shapes of a model's inputs and outputs.

    Parameters
    ----------
    model_file : str, path or onnx.ModelProto

    Returns
    -------
    dict
        ``input_tensor_data``: (name, shape, ONNX's element type) of each input;
        ``output_tensor_data``: (name, shape) of each output. Extents that are not known are 0.
    """
    importer, graph, _, _ = _of_file(model_file)
    return importer.get_graph_metadata(graph)
