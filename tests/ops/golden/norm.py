"""Calls of the normalisation operators."""

from .case import Case, draw, normal

X = normal(4, 3, 2, 5)
X3, X2 = normal(2, 4, 3), normal(6, 3)


def _batch(data, op="BatchNorm", **more):
    """BatchNorm or a relative with drawn parameters and running statistics."""
    axis = more.get("axis", 1)
    n, dtype = data.shape[axis], "float64" if data.dtype == "float64" else "float32"
    vectors = [draw(n, seed=s, low=0.5 * (s == 4), high=2, dtype=dtype) for s in (1, 2, 3, 4)]
    return Case(op, data, *vectors, states=(1, 3, 4), **more)


def batch_norm():
    for mode in (None, False, True):
        for name, attrs in (
            ("default", {}),
            ("gamma", {"fix_gamma": False}),
            ("global", {"fix_gamma": False, "use_global_stats": True}),
            ("outputs", {"fix_gamma": False, "output_mean_var": True, "momentum": 0.7, "eps": 0.1}),
            ("last_axis", {"axis": -1, "fix_gamma": False}),
        ):
            if mode is None or mode:
                wrt = () if mode is None else (0, 1, 2)
                yield f"{name}-{mode}", _batch(X, train=mode, wrt=wrt, outputs=1, **attrs)
    yield "two_axes", _batch(X2, train=True, wrt=(0, 1, 2), fix_gamma=False)
    yield "float64", _batch(X.astype("float64"), train=True, wrt=(0, 1, 2), fix_gamma=False)
    yield "float16", _batch(X.astype("float16"), fix_gamma=False)
    shared = {"train": True, "wrt": (0, 1, 2), "outputs": 1, "output_mean_var": True}
    for op, attrs in (("BatchNormWithReLU", {}), ("SyncBatchNorm", {"key": "a"})):
        yield op, _batch(X, f"contrib.{op}", fix_gamma=False, **shared, **attrs)


def layer_norm():
    shared = {"wrt": (0, 1, 2), "outputs": 1}
    yield "last", Case("LayerNorm", X3, draw(3, seed=1), draw(3, seed=2), **shared)
    yield (
        "outputs",
        Case(
            "LayerNorm",
            X3,
            draw(4, seed=1),
            draw(4, seed=2),
            axis=1,
            eps=0.01,
            output_mean_var=True,
            **shared,
        ),
    )
    wide = [v.astype("float64") for v in (X, draw(5, seed=1), draw(5, seed=2))]
    yield "float64", Case("LayerNorm", *wide, **shared)


def group_norm():
    for groups in (1, 2, 4):
        yield (
            str(groups),
            Case(
                "GroupNorm",
                X3,
                draw(groups, seed=1),
                draw(groups, seed=2),
                num_groups=groups,
                eps=0.01,
                output_mean_var=True,
                wrt=(0, 1, 2),
                outputs=1,
            ),
        )


def instance_norm():
    for name, data in (("3d", X3), ("4d", X)):
        n = data.shape[1]
        yield (
            name,
            Case("InstanceNorm", data, draw(n, seed=1), draw(n, seed=2), eps=0.1, wrt=(0, 1, 2)),
        )


def scales():
    for mode in ("instance", "channel", "spatial"):
        yield f"l2_{mode}", Case("L2Normalization", X, mode=mode, eps=0.1, wrt=(0,))
    yield "l2_matrix", Case("L2Normalization", X2, wrt=(0,))
    for nsize in (2, 3, 5):
        yield f"lrn_{nsize}", Case("LRN", X, nsize=nsize, alpha=0.5, beta=0.6, knorm=1.5, wrt=(0,))
    yield "lrn_default", Case("LRN", X, nsize=3, wrt=(0,))
    yield "moments", Case("moments", X, axes=(0, 2), wrt=(0,))
    yield "moments_kept", Case("moments", X, axes=(1,), keepdims=True, wrt=(0,))


FAMILY = (batch_norm, layer_norm, group_norm, instance_norm, scales)
