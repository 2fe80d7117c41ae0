"""`import_to_gluon`, the import of a model as a block."""

from mxcy.onnx.onnx2mx import import_model as files

__all__ = ["import_to_gluon"]


def import_to_gluon(model_file, ctx=None, input_shapes=None, *, input_values=None):
    """Import an ONNX model as a block.

    Parameters
    ----------
    model_file : str, path or onnx.ModelProto
    ctx : Context or list of Context, optional
        Contexts of the parameters; the current one by default.
    input_shapes : dict of str to tuple, optional
        See `import_model`.
    input_values : dict of str to numpy.ndarray, optional
        See `import_model`.

    Returns
    -------
    SymbolBlock
        Hybridizable block with the model's inputs, in order.
    """
    importer, graph, version, parts = files._of_file(model_file)
    parts["input_values"] = input_values
    return importer.graph_to_gluon(graph, ctx, version, input_shapes, **parts)
