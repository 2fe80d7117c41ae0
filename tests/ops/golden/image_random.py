"""Calls of operators that change images at random, after seeding."""

from .case import Case
from .image import pixels

SEED = 3
CHANGES = ("brightness", "contrast", "saturation", "hue")


class Seeded(Case):
    """Successive calls, the first with freshly seeded random streams."""

    def run(self, mx):
        """The outputs and gradients of each call by name."""
        mx.random.seed(SEED)
        return {
            f"{part}-{turn}": values
            for turn in range(4)
            for part, values in super(Seeded, self).run(mx).items()
        }


def photograph(*shape, dtype="float32"):
    return pixels(*shape).astype(dtype)


def colours():
    for what in CHANGES:
        name, bounds = f"image.random_{what}", {"min_factor": 0.3, "max_factor": 1.6}
        yield f"{what}", Seeded(name, photograph(5, 4, 3), wrt=(0,), **bounds)
        if what != "hue":  # MXNet leaves one-channel images uninitialized
            yield f"{what}-gray", Seeded(name, photograph(5, 4, 1), **bounds)
        yield f"{what}-half", Seeded(name, photograph(3, 4, 3, dtype="float16"), **bounds)
        yield f"{what}-integers", Seeded(name, photograph(3, 4, 3, dtype="int32"), **bounds)
        yield f"{what}-bytes", Seeded(name, pixels(3, 4, 3), **bounds)


def lighting():
    yield "drawn", Seeded("image.random_lighting", photograph(4, 3, 3), wrt=(0,), alpha_std=0.3)
    yield "bytes", Seeded("image.random_lighting", pixels(4, 3, 3), alpha_std=0.3)
    yield "given", Case("image.adjust_lighting", photograph(4, 3, 3), alpha=(0.1, -0.2, 0.3))
    yield "given-bytes", Case("image.adjust_lighting", pixels(4, 3, 3), alpha=(0.1, -0.2, 0.3))


def jitter():
    for kind in range(4):
        most = {name: 0.0 for name in CHANGES} | {CHANGES[kind]: 0.4}
        yield CHANGES[kind], Seeded("image.random_color_jitter", photograph(4, 3, 3), **most)
    most = dict(zip(CHANGES, (0.1, 0.2, 0.3, 0.4), strict=True))
    yield "all", Seeded("image.random_color_jitter", photograph(4, 3, 3), wrt=(0,), **most)
    gray = most | {"hue": 0.0}
    yield "gray", Seeded("image.random_color_jitter", photograph(4, 3, 1), **gray)


def flips():
    for axis in ("left_right", "top_bottom"):
        yield axis, Seeded(f"image.random_flip_{axis}", photograph(4, 6, 3), wrt=(0,))
        yield f"{axis}-bytes", Seeded(f"image.random_flip_{axis}", pixels(4, 2, 1))


FAMILY = (colours, lighting, jitter, flips)
