"""Patches of two images compared."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]


def correlation():
    def case(**attrs):
        first, second = draw(2, 3, 9, 10), draw(2, 3, 9, 10, seed=1)
        return Case("Correlation", first, second, wrt=(0, 1), tol=4, **attrs)

    yield "plain", case()
    yield "absolute", case(is_multiply=False)
    yield "kernel", case(kernel_size=3, max_displacement=2, pad_size=2)
    yield "steps", case(kernel_size=1, max_displacement=4, stride2=2, pad_size=4)
    yield (
        "strides",
        case(
            kernel_size=3, max_displacement=3, stride1=2, stride2=2, pad_size=4, is_multiply=False
        ),
    )
    yield "uneven", case(kernel_size=1, max_displacement=3, stride1=2, stride2=2, pad_size=3)


FAMILY = (correlation,)
