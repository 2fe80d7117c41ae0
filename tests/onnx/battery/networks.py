"""Networks exported, run by ONNX Runtime, and imported again."""

import contextlib

import numpy as np

import mxcy as mx
from mxcy.gluon.model_zoo import vision
from tests.onnx.battery import detectors, images, sequences
from tests.onnx.battery.operators import OPSETS, session

__all__ = ["CASES", "ZOO", "ZOO_OPSETS", "check", "difference", "draw", "exported"]

#: tolerance relative to the largest output
BESIDE_RUNTIME, BESIDE_ORIGINAL = 1e-4, 1e-5


def draw(shape, seed=0, below=0):
    """Normal numbers, or integers from 1 below a bound."""
    generator = np.random.default_rng(seed)
    if below:
        return generator.integers(min(1, below - 1), below, shape).astype(np.float32)
    return generator.normal(size=shape).astype(np.float32)


def _of_zoo(name):
    """Zoo networks with smaller images, if their last pooling allows it."""
    fixed = {"inceptionv3": 299, "alexnet": 224, "squeezenet1.0": 224, "squeezenet1.1": 224}
    extent = 224 if name.startswith(("vgg", "densenet")) else fixed.get(name, 64)
    shape = (3, extent, extent)
    return lambda: vision.get_model(name), [(1, *shape)], [("N", *shape)], [(2, *shape)]


ZOO = tuple(vision._models())
ZOO_OPSETS = (17, OPSETS[-1])
#: name -> (factory, shapes, dynamic dimensions or None, other shapes or None[, integer bounds])
CASES = {
    **{name: _of_zoo(name) for name in ZOO},
    **images.CASES,
    **sequences.CASES,
    **detectors.CASES,
    "bert_base": (
        sequences.Bert,
        [(1, 16), (1, 16), (1,)],
        [("N", "T"), ("N", "T"), ("N",)],
        [(2, 40), (2, 40), (2,)],
        (30000, 2, 16),
    ),
}


@contextlib.contextmanager
def _arrays_of(net):
    """`mx.np` arrays for networks written for them."""
    if not isinstance(net, sequences.Generator):
        yield mx.nd.array
        return
    mx.npx.set_np()
    try:
        yield mx.np.array
    finally:
        mx.npx.reset_np()


def exported(net, arrays, path, free=None, **options):
    """Write a network that has been initialized as an ONNX file.

    Returns
    -------
    list of str
        The names of its inputs.
    """
    net.hybridize()
    net(*arrays)
    net(*arrays)  # deferred shapes are known from the second call on
    stem = str(path).removesuffix(".onnx")
    symbol_file, params_file = net.export(stem)
    sym = mx.sym.load(str(symbol_file))
    params = mx.nd.load(str(params_file)) if params_file else {}
    plain = {name.partition(":")[2] for name in params}
    names = [name for name in sym.list_inputs() if name not in plain]
    usual = ["data"] if len(arrays) == 1 else [f"data{i}" for i in range(len(arrays))]
    shapes = [tuple(arrays[usual.index(name)].shape) for name in names]
    if free:
        free = [free[usual.index(name)] for name in names]
        options.update(dynamic=True, dynamic_input_shapes=free)
    mx.onnx.export_model(sym, params, shapes, onnx_file_path=str(path), **options)
    return usual


def difference(theirs, ours):
    """The largest difference of an output, relative to its largest element."""
    assert len(theirs) == len(ours)
    farthest = 0.0
    for actual, expected in zip(theirs, ours, strict=True):
        assert actual.shape == expected.shape, (actual.shape, expected.shape)
        assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
        assert np.isfinite(actual).all()
        if actual.size:
            scale = max(np.abs(expected).max(), 1e-3)
            farthest = max(farthest, float(np.abs(actual - expected).max() / scale))
    return farthest


def _listed(results):
    return [x.asnumpy() for x in (results if isinstance(results, list | tuple) else [results])]


def check(name, opset, path, back=True):
    """Export a network; run the file and import it again, for all shapes.

    Returns
    -------
    (float, float)
        The differences of ONNX Runtime and of the imported network from the original.
    """
    make, shapes, free, others, *bounds = CASES[name]
    bounds = bounds[0] if bounds and bounds[0] else (0,) * len(shapes)
    mx.random.seed(1)
    np.random.seed(1)
    net = make()
    farthest, farthest_back = 0.0, 0.0
    with _arrays_of(net) as array:
        net.initialize(mx.init.Xavier())
        first = [draw(shape, 1, below) for shape, below in zip(shapes, bounds, strict=True)]
        names = exported(net, [array(x) for x in first], path, free, opset_version=opset)
        ran = session(str(path))
        again = mx.contrib.onnx.import_to_gluon(str(path)) if back else None
        taken = [port.name for port in ran.get_inputs()]
        for turn in (shapes, others) if free and others else (shapes,):
            values = [draw(shape, 2, below) for shape, below in zip(turn, bounds, strict=True)]
            given = dict(zip(names, values, strict=True))
            ours = _listed(net(*map(array, values)))
            theirs = ran.run(None, {key: given[key] for key in taken})
            farthest = max(farthest, difference(theirs, ours))
            if back:
                actual = _listed(again(*[array(given[key]) for key in taken]))
                farthest_back = max(farthest_back, difference(actual, ours))
    return farthest, farthest_back
