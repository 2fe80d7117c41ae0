"""Calls of the operators that index, scatter, order and mask."""

import numpy as np

from .case import Case, array, draw


def taking():
    rows, floats = array(0, 2, 5, -1, dtype="int32"), array(0.9, 1.5, -0.5)
    yield "take clip", Case("take", draw(3, 4), rows, wrt=(0,))
    yield "take wrap", Case("take", draw(3, 4), rows, wrt=(0,), mode="wrap")
    yield "take far", Case("take", draw(3, 4), array(7, -7), wrt=(0, 1), mode="wrap")
    yield "take fractions", Case("take", draw(3, 4), floats, wrt=(0, 1))
    yield "take axis", Case("take", draw(3, 4), array([0, 2], [1, 1]), wrt=(0,), axis=-1)
    yield "take half", Case("take", draw(3, 4, dtype="float16"), array(1, dtype="float16"))
    yield "pick clip", Case("pick", draw(3, 4), array(0, 1, 9), wrt=(0, 1))
    yield "pick wrap", Case("pick", draw(3, 4), array(0, 1, 9), wrt=(0,), mode="wrap")
    yield "pick low", Case("pick", draw(3, 4), array(0, -1, -2), wrt=(0,))
    yield "pick axis", Case("pick", draw(3, 4), array([0, 1, 2, 0]), wrt=(0,), axis=0)
    index = array([0, 1, 2], [3, 3, 3], dtype="int32")
    yield "pick kept", Case("pick", draw(2, 3, 4), index, wrt=(0,), keepdims=True)
    yield (
        "pick integers",
        Case("pick", np.arange(12, dtype="int32").reshape(3, 4), array(0, 1.7, 2)),
    )
    yield "batch_take", Case("batch_take", draw(3, 2), array(0, 5, -1, dtype="int32"))
    yield "where", Case("where", array(1, 0, np.nan), draw(3), draw(3, seed=1), wrt=(0, 1, 2))
    yield "where rows", Case("where", array(1, 0), draw(2, 3), draw(2, 3, seed=1), wrt=(1, 2))


def one_hot():
    for name, indices, attrs in (
        ("plain", array(0, 2, 1), dict(depth=3)),
        ("outside", array(0, -1, 7, np.nan), dict(depth=3)),
        ("values", array([0, 1.9]), dict(depth=3, on_value=5, off_value=-1, dtype="int32")),
        ("half", array(0, 1, dtype="int32"), dict(depth=2, dtype="float16")),
        ("truncated", array(0, 1, dtype="uint8"), dict(depth=2, on_value=1.7, dtype="int32")),
    ):
        yield name, Case("one_hot", indices, **attrs)


def coordinates():
    pairs = array([0, 1, 0], [2, 3, 2], dtype="int32")
    yield "gather_nd", Case("gather_nd", draw(3, 4), pairs, wrt=(0,))
    yield "gather_nd rows", Case("gather_nd", draw(3, 4), array([0, 2]), wrt=(0, 1))
    yield "gather_nd negative", Case("gather_nd", draw(3, 4), array([-1, 1], [2, -3]))
    deep = array([[0, 1], [1, 0]], [[1, 2], [0, 0]], dtype="int64")
    yield "gather_nd deep", Case("gather_nd", draw(2, 3, 4), deep, wrt=(0,))
    yield "scatter_nd", Case("scatter_nd", draw(3), pairs, wrt=(0,), shape=(3, 4))
    yield "scatter_nd rows", Case("scatter_nd", draw(2, 4), array([0, 2]), wrt=(0,), shape=(3, 4))
    yield "add", Case("_internal._backward_gather_nd", draw(3), pairs, shape=(3, 4))
    copied = draw(3, 4), array(0, 2, dtype="int64"), draw(2, 4)
    yield "index_copy", Case("contrib.index_copy", *copied, wrt=(0, 2))
    yield "boolean_mask", Case("contrib.boolean_mask", draw(3, 4), array(0, 1, 2), wrt=(0,))
    yield "index_array", Case("contrib.index_array", draw(2, 3))
    yield "index_array axes", Case("contrib.index_array", draw(2, 3), axes=(-1, 0))
    flat = array(22, 41, 100, -1, dtype="int32")
    yield "unravel", Case("unravel_index", flat, shape=(7, 6))
    yield "unravel open", Case("unravel_index", array(22, 41), shape=(-1, 6))
    yield "ravel", Case("ravel_multi_index", array([3, 6, 9], [4, 5, 1]), shape=(7, 6))
    for name, shape, attrs in (
        ("all", (2, 3), {}),
        ("axis", (2, 3), dict(axis=-1, start=2, step=0.5)),
        ("repeat", (2, 3), dict(repeat=4)),
        ("repeat_axis", (2, 4), dict(repeat=2, axis=1)),
    ):
        yield f"arange_like {name}", Case("contrib.arange_like", draw(*shape), **attrs)


MIXED = array([3, 1, 2.5, 2], [5, 5.5, 0, 9])


def ordering():
    for name, attrs in (
        ("default", {}),
        ("value", dict(k=2, ret_typ="value")),
        ("both", dict(k=2, ret_typ="both", dtype="int64")),
        ("mask", dict(k=2, ret_typ="mask")),
        ("ascending", dict(k=2, is_ascend=True, dtype="int32")),
        ("first_axis", dict(k=2, axis=0)),
        ("flat", dict(k=2, axis=None)),
        ("flat_mask", dict(k=2, axis=None, ret_typ="mask")),
        ("everything", dict(k=0)),
        ("bytes", dict(k=2, dtype="uint8")),
    ):
        wrt = (0,) if attrs.get("ret_typ") == "value" else ()
        yield f"topk {name}", Case("topk", MIXED, wrt=wrt, **attrs)
    both = dict(k=2, ret_typ="both")
    yield "topk gradient", Case("topk", MIXED, wrt=(0,), heads=False, outputs=1, **both)
    yield "topk integers", Case("topk", MIXED.astype("int32"), **both)
    yield "topk integer mask", Case("topk", MIXED.astype("int32"), k=2, ret_typ="mask")
    for name, attrs in (
        ("default", {}),
        ("descending", dict(is_ascend=False)),
        ("first", dict(axis=0)),
        ("flat", dict(axis=None)),
    ):
        yield f"sort {name}", Case("sort", MIXED, **attrs)
        yield f"argsort {name}", Case("argsort", MIXED, **attrs)
    yield "argsort ties", Case("argsort", array(0.0, -0.0, 0.0, -0.0, 1.0, 0.0))
    yield "argsort dtype", Case("argsort", MIXED, dtype="int32")


def sequences():
    batch, lengths = draw(3, 2, 2), array(1, 2)
    use = dict(use_sequence_length=True)
    for op in ("SequenceMask", "SequenceLast", "SequenceReverse"):
        # The gradient of SequenceLast without lengths ends MXNet's process.
        yield f"{op} whole", Case(op, batch, wrt=() if op == "SequenceLast" else (0,))
        yield f"{op} lengths", Case(op, batch, lengths, wrt=(0,), **use)
        yield f"{op} fractions", Case(op, batch, array(1.5, 2.7), **use)
        yield f"{op} matrix", Case(op, draw(3, 2), array(1, 2, dtype="int64"), wrt=(0,), **use)
        yield f"{op} integers", Case(op, (10 * batch).astype("int32"), lengths, **use)
    second = draw(2, 3, 2)
    yield "mask value", Case("SequenceMask", second, lengths, axis=1, value=-7, wrt=(0,), **use)
    yield "mask extremes", Case("SequenceMask", batch, array(0, 9), **use)
    yield "last axis", Case("SequenceLast", second, lengths, axis=1, wrt=(0,), **use)
    yield "last axis whole", Case("SequenceLast", draw(2, 3), axis=1)
    yield "reverse none", Case("SequenceReverse", batch, array(0, 3), **use)
    for name, attrs in (
        ("flat", {}),
        ("first", dict(axis=0)),
        ("second", dict(axis=1)),
        ("double", dict(axis=1, dtype="float64")),
    ):
        yield f"cumsum {name}", Case("cumsum", draw(2, 3), wrt=(0,), **attrs)
    yield "cumsum integers", Case("cumsum", np.arange(6, dtype="int8").reshape(2, 3))


FAMILY = (taking, one_hot, coordinates, ordering, sequences)
