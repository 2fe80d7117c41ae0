"""Image transforms, for `Dataset.transform` and `transform_first`.

Images are NDArrays (height, width, channel); `ToTensor` moves the channels to the front. Random
transforms draw from MXNet's random streams, rotations from `numpy.random`, as in MXNet.
"""

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.data.vision.colours import draw
from mxcy.gluon.data.vision.transforms import image
from mxcy.gluon.data.vision.transforms.image import *  # noqa: F403
from mxcy.gluon.data.vision.transforms.image import __all__ as _image
from mxcy.gluon.nn import HybridSequential, Sequential

__all__ = [*_image, "Cast", "Compose", "HybridCompose", "HybridRandomApply", "RandomApply", "image"]

__dir__ = listing(__name__)


def _several(name, transforms):
    """Return the transforms; TypeError for a single one."""
    if isinstance(transforms, Block):
        raise TypeError(f"{name}: expected a list of transforms, got {type(transforms).__name__}")
    return transforms


class Compose(Sequential):
    """Sequence of transforms.

    Parameters
    ----------
    transforms : list of Block
    """

    def __init__(self, transforms):
        super().__init__()
        self.add(*_several("Compose", transforms))


class HybridCompose(HybridSequential):
    """Sequence of hybridizable transforms.

    Parameters
    ----------
    transforms : list of HybridBlock
    """

    def __init__(self, transforms):
        super().__init__()
        self.add(*_several("HybridCompose", transforms))
        self.hybridize()


class RandomApply(Sequential):
    """Apply a transform, or a sequence of them, with a given probability.

    Parameters
    ----------
    transforms : Block
    p : float
        The probability.
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, x, *args):
        """Transform an image, or return it."""
        return x if draw() > self.p else self.transforms(x, *args)


class HybridRandomApply(HybridSequential):
    """`RandomApply` for a hybridizable transform, which keeps shape and dtype if it is hybridized.

    Parameters
    ----------
    transforms : HybridBlock
    p : float
        The probability.
    """

    def __init__(self, transforms, p=0.5):
        assert isinstance(transforms, HybridBlock), (
            f"transforms must be a HybridBlock, got {type(transforms)}"
        )
        super().__init__()
        self.transforms, self.p = transforms, p

    def hybrid_forward(self, F, x):
        """Transform an image, or return it."""
        if F is nd:
            return x if draw() > self.p else self.transforms(x)
        chosen = F.random.uniform(shape=(1,)) <= self.p
        return F.contrib.cond(chosen, lambda: self.transforms(x), lambda: x)


class Cast(HybridBlock):
    """Cast to another dtype.

    Parameters
    ----------
    dtype : str
    """

    def __init__(self, dtype="float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        """Cast an array."""
        return F.cast(x, self._dtype)
