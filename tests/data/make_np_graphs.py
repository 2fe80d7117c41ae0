"""Write np_graphs.json.gz with MXNet 2.0.0b1: the graphs that deferred compute records.

The calls are those of the file itself. ``python tests/data/make_np_graphs.py`` under a Python that
has mxnet 2.0.0b1 writes for each of them the graph, and what it computes of `arrays`.
"""

import gzip
import json
from pathlib import Path

import numpy as onp

TARGET = Path(__file__).with_name("np_graphs.json.gz")


def arrays():
    """The operands of all calls."""
    draw = onp.random.RandomState(0)

    def some(*shape):
        return draw.uniform(0.5, 2, shape).astype("float32")

    actual = {name: some(2, 3) for name in "xy"}
    actual.update((name, some(4)) for name in "vw")
    actual["v3"], actual["s"] = some(3), some(3, 3)
    root = draw.uniform(0.1, 1, (3, 3))
    actual["spd"] = (root @ root.T + 3 * onp.eye(3)).astype("float32")
    actual["img"], actual["ker"] = some(1, 2, 4, 4), some(2, 2, 3, 3)
    actual["g3"], actual["z3"] = some(3), some(3)
    actual["i"] = onp.array([[0, 1, 1], [1, 0, 1]], "int64")
    return actual


def operands(whole):
    """The operands of a call; `whole` ones are int32."""
    actual = arrays()
    return {name: (3 * a).astype("int32") for name, a in actual.items()} if whole else actual


def flat(value):
    """The arrays in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [array for part in value for array in flat(part)]
    return [value]


def main():
    """Trace the calls and write the file."""
    import mxnet as mx
    from mxnet import _deferred_compute as deferred

    cases = json.loads(gzip.decompress(TARGET.read_bytes()))
    collected = {}
    for call, (_, _, whole) in cases.items():
        keywords = {k: mx.np.array(a, dtype=a.dtype) for k, a in operands(whole).items()}
        variables = [mx.sym.var(name) for name in keywords]
        with deferred.context():
            deferred.set_variable(list(keywords.values()), variables)
            names = {"np": mx.np, "npx": mx.npx, "mx": mx, "onp": onp, **keywords}
            outputs = flat(eval(call, names))
            graph = json.loads(deferred.get_symbol(outputs).tojson())
        results = [[str(a.dtype), list(a.shape), a.asnumpy().tolist()] for a in outputs]
        collected[call] = graph, results, whole
    text = json.dumps(collected, separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
