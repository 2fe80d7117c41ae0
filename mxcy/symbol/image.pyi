"""`mx.sym.image`: the operators of that family, over symbols."""

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
    """Add the main directions in which colours of photographs differ, `alpha` of each."""
def crop(
    data: Symbol | None = None, x: int = ..., y: int = ..., width: int = ..., height: int = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The part of an image, or of each image of a batch, that begins at column `x` and ..."""
def flip_left_right(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """An image (height, width, channel) with left and right swapped."""
def flip_top_bottom(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """An image (height, width, channel), upside down."""
def normalize(
    data: Symbol | None = None, mean: _Floats = (0.0, 0.0, 0.0, 0.0),
    std: _Floats = (1.0, 1.0, 1.0, 1.0), name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Subtract `mean` and divide by `std`, each one number or one for each channel."""
def random_brightness(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply an image (height, width, channel) by a number drawn from [min_factor, ..."""
def random_color_jitter(
    data: Symbol | None = None, brightness: float = ..., contrast: float = ...,
    saturation: float = ..., hue: float = ..., name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Random changes of brightness, contrast, saturation and hue, in random order."""
def random_contrast(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply an image's distance from its mean by a number from [min_factor, max_factor)."""
def random_crop(
    data: Symbol | None = None, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0),
    width: int = ..., height: int = ..., interp: int = 1, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """A part (height, width) at a random place of an image, or of each image of a batch."""
def random_flip_left_right(
    data: Symbol | None = None, p: float = 0.5, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Swap left and right of an image (height, width, channel), with probability `p`."""
def random_flip_top_bottom(
    data: Symbol | None = None, p: float = 0.5, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Turn an image (height, width, channel) upside down, with probability `p`."""
def random_hue(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Turn the circle of colours by a part of a full turn drawn from [min_factor, ..."""
def random_lighting(
    data: Symbol | None = None, alpha_std: float = 0.05, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Add noise along the main directions in which colours of photographs differ, as ..."""
def random_resized_crop(
    data: Symbol | None = None, xrange: _Floats = (0.0, 1.0), yrange: _Floats = (0.0, 1.0),
    width: int = ..., height: int = ..., interp: int = 1, area: _Floats = (0.08, 1.0),
    ratio: _Floats = (0.75, 1.3333333333333333), max_trial: int = 10, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """A part of an image, or of each image of a batch, of random size, shape and place, ..."""
def random_saturation(
    data: Symbol | None = None, min_factor: float = ..., max_factor: float = ...,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply colours' distance from dark gray by a number from [min_factor, max_factor)."""
def resize(
    data: Symbol | None = None, size: _Shape = (), keep_ratio: bool = False, interp: int = 1,
    name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Enlarge or shrink an image (height, width, channel), or each of a batch."""
def to_tensor(
    data: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Bring values from [0, 255] to [0, 1) in float32, and the channels to the front."""
