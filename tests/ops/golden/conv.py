"""Calls of convolutions and pooling."""

from .case import Case, normal


def _weights(out, channels, kernel, groups=1):
    return normal(out, channels // groups, *kernel, seed=1) * 0.5, normal(out, seed=2)


def convolutions():
    for name, shape, kernel, more in (
        ("line", (2, 4, 9), (3,), {"stride": (2,), "pad": (1,)}),
        ("plane", (2, 4, 7, 6), (3, 2), {"stride": (2, 1), "pad": (1, 0)}),
        ("dilated", (1, 4, 9, 9), (3, 3), {"dilate": (2, 2), "pad": (2, 1)}),
        ("groups", (2, 4, 5, 5), (3, 3), {"num_group": 2, "pad": (1, 1)}),
        ("each", (2, 4, 6, 6), (3, 3), {"num_group": 4}),
        ("pointwise", (2, 4, 5, 5), (1, 1), {}),
        ("strided", (2, 4, 5, 5), (1, 1), {"stride": (2, 2)}),
        ("volume", (1, 4, 4, 5, 4), (2, 3, 2), {"pad": (0, 1, 1)}),
    ):
        weight, bias = _weights(8, 4, kernel, more.get("num_group", 1))
        keywords = {"kernel": kernel, "num_filter": 8, **more}
        yield name, Case("Convolution", normal(*shape), weight, bias, wrt=(0, 1, 2), **keywords)
        yield (
            f"{name}-no_bias",
            Case("Convolution", normal(*shape), weight, no_bias=True, **keywords),
        )


def deconvolutions():
    for name, shape, kernel, more in (
        ("line", (2, 4, 5), (3,), {"stride": (2,), "pad": (1,), "adj": (1,)}),
        ("plane", (2, 4, 4, 5), (3, 2), {"stride": (2, 2), "pad": (1, 0)}),
        ("groups", (2, 4, 3, 3), (3, 3), {"num_group": 2}),
    ):
        groups = more.get("num_group", 1)
        weight, bias = normal(4, 6 // groups, *kernel, seed=1) * 0.5, normal(6, seed=2)
        keywords = {"kernel": kernel, "num_filter": 6, **more}
        case = Case(
            "Deconvolution", normal(*shape), weight, bias, wrt=(0, 1, 2), no_bias=False, **keywords
        )
        yield name, case
        yield f"{name}-no_bias", Case("Deconvolution", normal(*shape), weight, **keywords)


def pooling():
    for kind in ("max", "avg", "sum", "lp"):
        more = {"p_value": 2} if kind == "lp" else {}
        for name, shape, keywords in (
            ("line", (2, 3, 8), {"kernel": (3,), "stride": (2,)}),
            ("plane", (2, 3, 7, 6), {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1)}),
            (
                "full",
                (2, 3, 7, 6),
                {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"},
            ),
            ("volume", (1, 2, 4, 5, 4), {"kernel": (2, 2, 2), "stride": (2, 1, 2)}),
            ("global", (2, 3, 5, 4), {"kernel": (1, 1), "global_pool": True}),
        ):
            # MXNet's gradient divides by other counts than its mean where windows are cut off.
            wrt = () if (kind, name) == ("avg", "full") else (0,)
            case = Case("Pooling", normal(*shape), wrt=wrt, pool_type=kind, **keywords, **more)
            yield f"{kind}-{name}", case
    keywords = {"kernel": (3, 3), "pad": (1, 1), "stride": (2, 2), "pool_type": "avg"}
    inner = Case("Pooling", normal(2, 3, 6, 6), wrt=(0,), count_include_pad=False, **keywords)
    yield "avg-inner", inner


FAMILY = (convolutions, deconvolutions, pooling)
