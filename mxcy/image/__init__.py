"""`mx.image`: reading, augmenting and iterating over images (``pip install mxcy[image]``).

Images are RGB arrays (height, width, channel).
"""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.image import detection, image
from mxcy.image.detection import *  # noqa: F403
from mxcy.image.detection import __all__ as _detection
from mxcy.image.image import *  # noqa: F403
from mxcy.image.image import __all__ as _image

__all__ = [*_detection, *_image, "detection", "image"]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
