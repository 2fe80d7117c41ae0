"""Write np_graphs.json.gz with MXNet 2.0.0b1: graphs that deferred computation makes of calls.

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

    found = {name: some(2, 3) for name in "xy"}
    found.update((name, some(4)) for name in "vw")
    found["v3"], found["s"] = some(3), some(3, 3)
    root = draw.uniform(0.1, 1, (3, 3))
    found["spd"] = (root @ root.T + 3 * onp.eye(3)).astype("float32")
    found["img"], found["ker"] = some(1, 2, 4, 4), some(2, 2, 3, 3)
    found["g3"], found["z3"] = some(3), some(3)
    found["i"] = onp.array([[0, 1, 1], [1, 0, 1]], "int64")
    return found


def operands(whole):
    """The operands of a call; `whole` ones are int32."""
    found = arrays()
    return {name: (3 * a).astype("int32") for name, a in found.items()} if whole else found


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
    found = {}
    for call, (_, _, whole) in cases.items():
        given = {k: mx.np.array(a, dtype=a.dtype) for k, a in operands(whole).items()}
        variables = [mx.sym.var(name) for name in given]
        with deferred.context():
            deferred.set_variable(list(given.values()), variables)
            names = {"np": mx.np, "npx": mx.npx, "mx": mx, "onp": onp, **given}
            outputs = flat(eval(call, names))
            graph = json.loads(deferred.get_symbol(outputs).tojson())
        results = [[str(a.dtype), list(a.shape), a.asnumpy().tolist()] for a in outputs]
        found[call] = graph, results, whole
    text = json.dumps(found, separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
