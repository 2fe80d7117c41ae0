"""Calls of the operators that reshape, permute, repeat, join and cut arrays."""

from .case import Case, draw


def _cases(op, **calls):
    """Cases of an operator: ``name=(shapes, attributes)``; all gradients are compared."""
    for name, (shapes, attrs) in calls.items():
        inputs = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
        yield f"{op} {name}", Case(op, *inputs, wrt=tuple(range(len(inputs))), **attrs)


def shapes():
    yield from _cases(
        "Reshape",
        keep=([(2, 3, 4)], dict(shape=(4, 0, 2))),
        infer=([(2, 3, 4)], dict(shape=(0, -1))),
        rest=([(2, 3, 4)], dict(shape=(-2, 1, 1))),
        rest_behind=([(2, 3, 4)], dict(shape=(2, -2))),
        join=([(2, 3, 4)], dict(shape=(-3, 4))),
        join_twice=([(2, 3, 4, 5)], dict(shape=(-3, -3))),
        split=([(2, 3, 4)], dict(shape=(-4, 1, 2, -2))),
        split_inferred=([(2, 3, 4)], dict(shape=(2, -4, -1, 3, -2))),
        forward=([(10, 5, 4)], dict(shape=(-1, 0))),
        reverse=([(10, 5, 4)], dict(shape=(-1, 0), reverse=True)),
        target=([(2, 3, 4)], dict(target_shape=(2, 0))),
        target_first=([(2, 3, 4)], dict(target_shape=(0, 4))),
        highest=([(2, 3, 4)], dict(target_shape=(0, 12), keep_highest=True)),
    )
    yield from _cases(
        "reshape_like",
        all=([(6,), (2, 3)], {}),
        part=([(30, 7), (15, 2, 4)], dict(lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2)),
        negative=([(30, 7), (15, 2, 4)], dict(lhs_begin=-2, lhs_end=-1, rhs_begin=0, rhs_end=2)),
        ends=([(30, 7), (15, 2, 4)], dict(lhs_end=1, rhs_end=2)),
    )
    yield from _cases("Flatten", matrix=([(2, 3, 4)], {}), vector=([(5,)], {}))
    yield from _cases(
        "expand_dims",
        last=([(2, 3)], dict(axis=-1)),
        first=([(2, 3)], dict(axis=-3)),
        end=([(2, 3)], dict(axis=2)),
    )
    yield from _cases(
        "squeeze",
        all=([(1, 2, 1, 3)], {}),
        some=([(1, 2, 1, 3)], dict(axis=(0, -2))),
        none=([(1, 2, 1, 3)], dict(axis=())),
        everything=([(1, 1)], {}),
    )
    yield from _cases("shape_array", one=([(2, 3)], {}))
    yield from _cases("size_array", one=([(2, 3)], {}))


def permutations():
    yield from _cases(
        "transpose",
        default=([(2, 3, 4)], {}),
        axes=([(2, 3, 4)], dict(axes=(1, 2, 0))),
        six=([(1, 2, 3, 2, 1, 3)], dict(axes=(5, 0, 3, 1, 4, 2))),
    )
    yield from _cases(
        "SwapAxis",
        two=([(2, 3, 4)], dict(dim1=0, dim2=2)),
        negative=([(2, 3, 4)], dict(dim1=0, dim2=-1)),
        same=([(2, 3, 4)], {}),
    )
    yield from _cases("reverse", one=([(2, 3)], dict(axis=0)), two=([(2, 3, 4)], dict(axis=(0, 2))))
    yield from _cases("depth_to_space", two=([(1, 8, 2, 3)], dict(block_size=2)))
    yield from _cases("space_to_depth", two=([(1, 2, 4, 6)], dict(block_size=2)))
    yield from _cases(
        "diag",
        make=([(3,)], dict(k=1)),
        take=([(3, 4)], dict(k=-1)),
        batch=([(2, 3, 4)], dict(k=1)),
        axes=([(2, 3, 4)], dict(axis1=0, axis2=2)),
        negative=([(2, 3, 4)], dict(axis1=-1, axis2=-2)),
    )


def repetitions():
    yield from _cases(
        "tile",
        short=([(2, 3)], dict(reps=(2,))),
        long=([(2, 3)], dict(reps=(2, 1, 3))),
        both=([(2, 3)], dict(reps=(2, 3))),
        empty=([(2, 3)], dict(reps=())),
    )
    yield from _cases(
        "repeat",
        flat=([(2, 3)], dict(repeats=2)),
        first=([(2, 3)], dict(repeats=2, axis=0)),
        last=([(2, 3)], dict(repeats=3, axis=-1)),
    )
    yield from _cases(
        "broadcast_to",
        all=([(1, 3)], dict(shape=(2, 3))),
        keep=([(1, 3)], dict(shape=(2, 0))),
        middle=([(2, 1, 3, 1)], dict(shape=(2, 4, 3, 2))),
    )
    yield from _cases(
        "broadcast_axis",
        two=([(1, 3, 1)], dict(axis=(0, 2), size=(2, 2))),
        nothing=([(1, 3, 1)], {}),
    )
    yield from _cases(
        "broadcast_like",
        all=([(1, 3), (5, 3)], {}),
        axes=([(1, 3), (5, 6, 7)], dict(lhs_axes=(0,), rhs_axes=(2,))),
        negative=([(1, 1), (5, 6)], dict(lhs_axes=(-1,), rhs_axes=(-1,))),
    )
    widths = (0, 0, 0, 0, 1, 1, 2, 0)
    yield from _cases(
        "Pad",
        constant=([(1, 2, 2, 3)], dict(mode="constant", pad_width=widths, constant_value=7)),
        edge=([(1, 2, 2, 3)], dict(mode="edge", pad_width=widths)),
        reflect=([(1, 2, 2, 3)], dict(mode="reflect", pad_width=widths)),
        five=([(1, 1, 2, 3, 2)], dict(mode="edge", pad_width=(0, 0, 0, 0, 1, 0, 0, 2, 1, 1))),
    )


def parts():
    yield from _cases(
        "Concat",
        default=([(2, 3), (2, 4), (2, 1)], {}),
        negative=([(2, 3), (3, 3)], dict(dim=-2)),
        one=([(2, 3)], {}),
    )
    yield from _cases(
        "stack",
        first=([(2, 3), (2, 3)], {}),
        last=([(2, 3), (2, 3), (2, 3)], dict(axis=-1)),
        end=([(2, 3), (2, 3)], dict(axis=2)),
    )
    yield from _cases(
        "SliceChannel",
        two=([(4, 4)], dict(num_outputs=2)),
        squeezed=([(4, 2)], dict(num_outputs=2, squeeze_axis=True)),
        negative=([(4, 4)], dict(num_outputs=2, axis=-1)),
        one=([(4, 4)], dict(num_outputs=1)),
        scalars=([(2,)], dict(num_outputs=2, axis=0, squeeze_axis=True)),
    )
    yield from _cases(
        "_internal._split_v2",
        indices=([(5, 2)], dict(indices=(0, 1, 3), axis=0)),
        sections=([(6, 2)], dict(indices=(), axis=0, sections=4)),
        squeezed=([(2, 3)], dict(indices=(0, 1, 2), axis=1, squeeze_axis=True)),
    )
    yield from _cases(
        "add_n", two=([(2, 3), (2, 3)], {}), one=([(2, 3)], {}), five=([(2, 3)] * 5, {})
    )
    yield "khatri_rao", Case("khatri_rao", draw(2, 3), draw(4, 3), draw(2, 3, seed=1))


def slices():
    yield from _cases(
        "slice",
        box=([(3, 4)], dict(begin=(0, 1), end=(2, 4))),
        backwards=([(3, 4)], dict(begin=(None, 0), end=(None, 3), step=(-1, 2))),
        rest=([(3, 4)], dict(begin=(1,), end=(None,))),
        negative=([(3, 4)], dict(begin=(-2,), end=(-1,))),
        beyond=([(3, 4)], dict(begin=(-7,), end=(10,), step=(2,))),
        beyond_back=([(3, 4)], dict(begin=(9,), end=(-10,), step=(-1,))),
        partial_step=([(3, 4)], dict(begin=(0, 1), end=(2, 4), step=(None, 2))),
        nothing=([(3, 4)], dict(begin=(), end=())),
    )
    yield from _cases(
        "slice_axis",
        middle=([(3, 4)], dict(axis=1, begin=1, end=3)),
        negative=([(3, 4)], dict(axis=-1, begin=-2, end=None)),
    )
    yield from _cases(
        "slice_like",
        all=([(3, 4), (2, 3)], {}),
        one=([(3, 4), (2, 3)], dict(axes=(-1,))),
        other_rank=([(3, 4, 5), (2, 1, 3, 2)], dict(axes=(-1,))),
    )
    yield from _cases("Crop", like=([(1, 1, 4, 4), (1, 1, 2, 2)], dict(num_args=2)))
    box = dict(begin=(0, 1), end=(2, 3))
    yield "assign", Case("_internal._slice_assign", draw(3, 4), draw(2, 2), **box)
    yield (
        "assign step",
        Case(
            "_internal._slice_assign", draw(3, 4), draw(2, 4), begin=(None,), end=(None,), step=(2,)
        ),
    )
    yield "assign number", Case("_internal._slice_assign_scalar", draw(3, 4), scalar=9, **box)
    for name, attrs in (
        ("offset", dict(h_w=(2, 2), offset=(1, 1))),
        ("centre", dict(h_w=(2, 2), center_crop=True)),
    ):
        yield f"Crop {name}", Case("Crop", draw(1, 1, 4, 5), num_args=1, **attrs)


FAMILY = (shapes, permutations, repetitions, parts, slices)
