"""Damaged ONNX models: bytes of the file, and fields of its nodes and tensors."""

import importlib.util

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 400
_models = []


def prepare():
    """Read models written by PyTorch, and create others with dynamic dimensions and int8 layers."""
    if importlib.util.find_spec("onnx") is None:
        return
    from tests.onnx.test_of_torch import ARCHIVE, MODELS
    from tests.onnx.test_open_extents import CASES, of_extents
    from tests.onnx.test_quantized import quantized_layer

    _models.extend(ARCHIVE.read(name) for name in MODELS if "script" in name)
    _models.extend(of_extents(*nodes).SerializeToString() for nodes in CASES.values())
    _models.append(quantized_layer("uint8", 0).SerializeToString())


def _changed(content, rng):
    """The model with one number, name or operator changed."""
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
        attribute.type = rng.choice([attribute.type, rng.randrange(15)])
    elif kind == 3 and model.graph.initializer:
        tensor = rng.choice(model.graph.initializer)
        tensor.dims.append(rng.choice([0, 2, -1, 1 << 50]))
    else:
        del node.input[:]
    return model.SerializeToString()


def case(seed):
    """Import a model, and infer shapes for inputs other than it was made with."""
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
        symbol, args, states = mx.contrib.onnx.import_model(model)
        mx.contrib.onnx.get_model_metadata(model)
        data = [name for name in symbol.list_inputs() if name not in (*args, *states)]
        symbol.infer_shape_partial(**{name: (rng.randrange(4), 3) for name in data})
