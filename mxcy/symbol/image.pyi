"""`mx.sym.image`: image operators for symbols."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from typing import TypeAlias
from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

_Shape: TypeAlias = int | Sequence[int | None]
_Floats: TypeAlias = float | Sequence[float]

def adjust_lighting(
    data: Symbol | None = None, alpha: _Floats = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Add the principal components of natural image colours, weighted by `alpha`."""
def crop(
    data: Symbol | None = None, x: int = ..., y: int = ..., width: int = ..., height: int = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, with the top left corner at (`x`, `y`)."""
def flip_left_right(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Flip an image (height, width, channel) left to right."""
def flip_top_bottom(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Flip an image (height, width, channel) top to bottom."""
def normalize(
    data: Symbol | None = None, mean: _Floats = (0.0, 0.0, 0.0, 0.0),
    std: _Floats = (1.0, 1.0, 1.0, 1.0), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Normalise an image: subtract `mean` and divide by `std`, scalars or one value per ..."""
def random_brightness(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Scale an image (height, width, channel) by a random factor in [min_factor, ..."""
def random_color_jitter(
    data: Symbol | None = None, brightness: float = ..., contrast: float = ...,
    saturation: float = ..., hue: float = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Jitter brightness, contrast, saturation and hue randomly, in random order."""
def random_contrast(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Scale an image's distance from its mean by a random factor in [min_factor, ..."""
def random_crop(
    data: Symbol | None = None, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0),
    width: int = ..., height: int = ..., interp: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, at a random position."""
def random_flip_left_right(
    data: Symbol | None = None, p: float = 0.5, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Flip an image (height, width, channel) left to right with probability `p`."""
def random_flip_top_bottom(
    data: Symbol | None = None, p: float = 0.5, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Flip an image (height, width, channel) top to bottom with probability `p`."""
def random_hue(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Rotate the hue by a random fraction of a full turn in [min_factor, max_factor)."""
def random_lighting(
    data: Symbol | None = None, alpha_std: float = 0.05, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Add random noise along the principal components of natural image colours (AlexNet)."""
def random_resized_crop(
    data: Symbol | None = None, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0),
    width: int = ..., height: int = ..., interp: int = 1, area: _Floats = (0.08, 1.0),
    ratio: _Floats = (0.75, 1.3333333333333333), max_trial: int = 10, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Crop an image, or each image of a batch, with random size and aspect ratio, and ..."""
def random_saturation(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Scale colours' distance from dark gray by a random factor in [min_factor, max_factor)."""
def resize(
    data: Symbol | None = None, size: _Shape = (), keep_ratio: bool = False, interp: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Resize an image (height, width, channel), or each image of a batch."""
def to_tensor(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Convert an image with values in [0, 255] to a float32 tensor in [0, 1), channels ..."""
