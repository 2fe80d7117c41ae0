"""`import_model` and `get_model_metadata`."""

from mxcy.onnx.onnx2mx.reading import opsets_of, read

__all__ = ["get_model_metadata", "import_model"]


def _of_file(model_file):
    """Read a file; return an importer, the graph, and further arguments of its methods."""
    model, folder = read(model_file)
    # `read` comes first, for its better error if the package onnx is missing.
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
        Shapes of inputs, to override those of the file, or if the file leaves them open and the
        graph computes with them (rather than only copying them, as is usual).
    input_values : dict of str to numpy.ndarray, optional
        Inputs to turn into constants, such as the target shape of a Reshape.

    Returns
    -------
    sym : Symbol
        Symbol with the variable names of the file.
    arg_params, aux_params : dict of str to NDArray
        Parameters and auxiliary states.

    Raises
    ------
    NotImplementedError
        If the model has operators that are neither supported nor defined by other operators.
    ValueError
        If the model does not specify its opset.
    MXNetError
        If the file is damaged, or a value required at import is unknown; the message names the
        node and the attribute or input.
    ImportError
        If the package `onnx` is not installed.
    """
    importer, graph, version, parts = _of_file(model_file)
    return importer.from_onnx(graph, version, input_shapes, input_values=input_values, **parts)


def get_model_metadata(model_file):
    """Return names and shapes of a model's inputs and outputs.

    Parameters
    ----------
    model_file : str, path or onnx.ModelProto

    Returns
    -------
    dict
        ``input_tensor_data``: (name, shape, ONNX element type) of each input;
        ``output_tensor_data``: (name, shape) of each output. Unknown extents are 0.
    """
    importer, graph, _, _ = _of_file(model_file)
    return importer.get_graph_metadata(graph)
