"""Calls of the resizing operators."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]


def resize():
    def case(*inputs, wrt=(0,), **attrs):
        return Case("contrib.BilinearResize2D", *inputs, wrt=wrt, tol=4, **attrs)

    image = draw(2, 3, 5, 6)
    yield "larger", case(image, height=9, width=11)
    yield "smaller", case(image, height=2, width=3)
    yield "one", case(image, height=1, width=1)
    yield "areas", case(image, height=7, width=4, align_corners=False)
    yield "scaled", case(image, scale_height=2.0, scale_width=0.5, mode="odd_scale")
    yield "scaled size", case(image, scale_height=1.5, scale_width=2.0)
    yield "like", case(image, draw(1, 1, 8, 3), mode="like", wrt=())  # MXNet's gradient crashes
    for mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up"):
        yield mode, case(image, mode=mode)


def pooling():
    def case(**attrs):
        return Case("contrib.AdaptiveAvgPooling2D", draw(2, 3, 7, 5), wrt=(0,), tol=4, **attrs)

    yield "all", case()
    yield "square", case(output_size=3)
    yield "oblong", case(output_size=(2, 4))
    yield "larger", case(output_size=(9, 6))


FAMILY = (resize, pooling)
