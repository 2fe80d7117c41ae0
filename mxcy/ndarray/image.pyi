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
    """Add the principal components of natural image colours, weighted by `alpha`."""
def crop(
    data: NDArray, x: int = ..., y: int = ..., width: int = ..., height: int = ...,
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, with the top left corner at (`x`, `y`)."""
def flip_left_right(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Flip an image (height, width, channel) left to right."""
def flip_top_bottom(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Flip an image (height, width, channel) top to bottom."""
def normalize(
    data: NDArray, mean: _Floats = (0.0, 0.0, 0.0, 0.0), std: _Floats = (1.0, 1.0, 1.0, 1.0),
    out: _Out = None, name: str | None = None,
) -> NDArray:
    """Normalise an image: subtract `mean` and divide by `std`, scalars or one value per ..."""
def random_brightness(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Scale an image (height, width, channel) by a random factor in [min_factor, ..."""
def random_color_jitter(
    data: NDArray, brightness: float = ..., contrast: float = ..., saturation: float = ...,
    hue: float = ..., out: _Out = None, name: str | None = None,
) -> NDArray:
    """Jitter brightness, contrast, saturation and hue randomly, in random order."""
def random_contrast(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Scale an image's distance from its mean by a random factor in [min_factor, ..."""
def random_crop(
    data: NDArray, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0), width: int = ...,
    height: int = ..., interp: int = 1, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, at a random position."""
def random_flip_left_right(
    data: NDArray, p: float = 0.5, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Flip an image (height, width, channel) left to right with probability `p`."""
def random_flip_top_bottom(
    data: NDArray, p: float = 0.5, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Flip an image (height, width, channel) top to bottom with probability `p`."""
def random_hue(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Rotate the hue by a random fraction of a full turn in [min_factor, max_factor)."""
def random_lighting(
    data: NDArray, alpha_std: float = 0.05, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Add random noise along the principal components of natural image colours (AlexNet)."""
def random_resized_crop(
    data: NDArray, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0), width: int = ...,
    height: int = ..., interp: int = 1, area: _Floats = (0.08, 1.0),
    ratio: _Floats = (0.75, 1.3333333333333333), max_trial: int = 10, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Crop an image, or each image of a batch, with random size and aspect ratio, and ..."""
def random_saturation(
    data: NDArray, min_factor: float = ..., max_factor: float = ..., out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Scale colours' distance from dark gray by a random factor in [min_factor, max_factor)."""
def resize(
    data: NDArray, size: _Shape = (), keep_ratio: bool = False, interp: int = 1, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Resize an image (height, width, channel), or each image of a batch."""
def to_tensor(data: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Convert an image with values in [0, 255] to a float32 tensor in [0, 1), channels ..."""
