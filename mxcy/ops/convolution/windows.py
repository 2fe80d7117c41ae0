"""Windows that slide over images: what convolutions and their kin see at each place."""

import itertools

__all__ = ["padded", "reach", "windows"]


def reach(kernel, dilate):
    """How many positions a dilated kernel covers."""
    return [(k - 1) * d + 1 for k, d in zip(kernel, dilate, strict=True)]


def windows(kernel, stride, dilate, spatial):
    """For each kernel position, the slices of the padded input under the output positions."""
    for position in itertools.product(*map(range, kernel)):
        yield (
            position,
            tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, s, d, n in zip(position, stride, dilate, spatial, strict=True)
            ),
        )


def padded(xp, data, pad):
    """Data (batch, channel, spatial...) with zeros on all sides."""
    return xp.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
