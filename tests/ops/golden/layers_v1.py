"""First versions of convolution and pooling."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]


def convolution():
    inputs = draw(2, 4, 5, 6), draw(6, 2, 3, 3), draw(6)
    yield (
        "groups",
        Case(
            "Convolution_v1",
            *inputs,
            wrt=(0, 1, 2),
            tol=4,
            kernel=(3, 3),
            num_filter=6,
            num_group=2,
            pad=(1, 1),
            stride=(2, 1),
        ),
    )


def pooling():
    def case(pool_type, **attrs):
        return Case(
            "Pooling_v1",
            draw(2, 3, 6, 7),
            wrt=(0,),
            tol=2,
            pool_type=pool_type,
            kernel=(3, 2),
            **attrs,
        )

    for kind in ("max", "avg", "sum"):
        yield f"{kind} plain", case(kind)
        yield f"{kind} padded", case(kind, pad=(1, 1), stride=(2, 2))
        yield f"{kind} full", case(kind, stride=(2, 2), pooling_convention="full")
        yield f"{kind} global", case(kind, global_pool=True)


FAMILY = (convolution, pooling)
