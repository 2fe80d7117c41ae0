"""Damaged ONNX models: bytes of the file, and fields of its nodes and tensors."""

import importlib.util

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 400
_models = []


def prepare():
    """Read models that PyTorch wrote."""
    if importlib.util.find_spec("onnx") is None:
        return
    from tests.onnx.test_of_torch import ARCHIVE, MODELS

    _models.extend(ARCHIVE.read(name) for name in MODELS if "script" in name)


def _changed(content, rng):
    """The model with another number, name or operator somewhere."""
    import onnx

    model = onnx.load_from_string(content)
    node = rng.choice(model.graph.node)
    kind = rng.randrange(5)
    if kind == 0:
        node.op_type = rng.choice(model.graph.node).op_type
    elif kind == 1 and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(model.graph.node).output[0]
    elif kind == 2 and node.attribute:
        attribute = rng.choice(node.attribute)
        attribute.i = rng.choice([-1, 0, 7, 1 << 40])
        attribute.ints.append(rng.choice([-3, 0, 1 << 33]))
    elif kind == 3 and model.graph.initializer:
        tensor = rng.choice(model.graph.initializer)
        tensor.dims.append(rng.choice([0, 2, -1, 1 << 50]))
    else:
        del node.input[:]
    return model.SerializeToString()


def case(seed):
    """Import a model."""
    import onnx

    if not _models:
        return
    rng = generator(seed)
    content = rng.choice(_models)
    content = damaged(content, rng) if seed % 2 else _changed(content, rng)
    try:
        model = onnx.load_from_string(content)
    except Exception:  # protobuf's own
        return
    with expected(NotImplementedError, ValueError):
        mx.contrib.onnx.import_model(model)
