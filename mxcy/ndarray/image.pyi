"""`mx.nd.image`: operators on images."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import TypeAlias
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)

_Shape: TypeAlias = int | Sequence[int | None]
_Floats: TypeAlias = float | Sequence[float]
_Out: TypeAlias = NDArray | list[NDArray] | None

def adjust_lighting(
    data: NDArray, alpha: _Floats = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Add the main directions in which colours of photographs differ, `alpha` of each."""
def crop(
    data: NDArray, x: int = ..., y: int = ..., width: int = ..., height: int = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """The part of an image, or of each image of a batch, that begins at column `x` and ..."""
def flip_left_right(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """An image (height, width, channel) with left and right swapped."""
def flip_top_bottom(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """An image (height, width, channel), upside down."""
def normalize(
    data: NDArray, mean: _Floats = (0.0, 0.0, 0.0, 0.0), std: _Floats = (1.0, 1.0, 1.0, 1.0),
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Subtract `mean` and divide by `std`, each one number or one for each channel."""
def random_brightness(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Multiply an image (height, width, channel) by a number drawn from [min_factor, ..."""
def random_color_jitter(
    data: NDArray, brightness: float = ..., contrast: float = ..., saturation: float = ...,
    hue: float = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Random changes of brightness, contrast, saturation and hue, in random order."""
def random_contrast(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Multiply an image's distance from its mean by a number from [min_factor, max_factor)."""
def random_crop(
    data: NDArray, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0), width: int = ...,
    height: int = ..., interp: int = 1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """A part (height, width) at a random place of an image, or of each image of a batch."""
def random_flip_left_right(
    data: NDArray, p: float = 0.5, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Swap left and right of an image (height, width, channel), with probability `p`."""
def random_flip_top_bottom(
    data: NDArray, p: float = 0.5, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Turn an image (height, width, channel) upside down, with probability `p`."""
def random_hue(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Turn the circle of colours by a part of a full turn drawn from [min_factor, ..."""
def random_lighting(
    data: NDArray, alpha_std: float = 0.05, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Add noise along the main directions in which colours of photographs differ, as ..."""
def random_resized_crop(
    data: NDArray, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0), width: int = ...,
    height: int = ..., interp: int = 1, area: _Floats = (0.08, 1.0),
    ratio: _Floats = (0.75, 1.3333333333333333), max_trial: int = 10, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """A part of an image, or of each image of a batch, of random size, shape and place, ..."""
def random_saturation(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Multiply colours' distance from dark gray by a number from [min_factor, max_factor)."""
def resize(
    data: NDArray, size: _Shape = (), keep_ratio: bool = False, interp: int = 1, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Enlarge or shrink an image (height, width, channel), or each of a batch."""
def to_tensor(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Bring values from [0, 255] to [0, 1) in float32, and the channels to the front."""
