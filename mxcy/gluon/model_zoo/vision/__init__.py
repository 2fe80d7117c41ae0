"""Image classifiers, with MXNet's parameter names and shapes.

``get_model(name)`` creates any of them; each also has its own function, such as ``resnet50_v1()``.
Images are (N, 3, H, W), at least 299 x 299 for Inception v3, otherwise usually 224 x 224; outputs
are logits (N, classes).
"""

from mxcy._base.listing import listing
from mxcy._base.suggestions import did_you_mean, module_getattr
from mxcy.gluon.model_zoo.vision.alexnet import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.alexnet import __all__ as _alexnet
from mxcy.gluon.model_zoo.vision.densenet import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.densenet import __all__ as _densenet
from mxcy.gluon.model_zoo.vision.inception import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.inception import __all__ as _inception
from mxcy.gluon.model_zoo.vision.mobilenet import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.mobilenet import __all__ as _mobilenet
from mxcy.gluon.model_zoo.vision.resnet import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.resnet import __all__ as _resnet
from mxcy.gluon.model_zoo.vision.squeezenet import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.squeezenet import __all__ as _squeezenet
from mxcy.gluon.model_zoo.vision.vgg import *  # noqa: F403
from mxcy.gluon.model_zoo.vision.vgg import __all__ as _vgg

__all__ = ["get_model", *_alexnet, *_densenet, *_inception, *_mobilenet, *_resnet, *_squeezenet]
__all__ += _vgg

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)

_MULTIPLIERS = ("1.0", "0.75", "0.5", "0.25")
# name in the zoo -> function of this module, if different
_OTHER_NAMES = {
    "inceptionv3": "inception_v3",
    "squeezenet1.0": "squeezenet1_0",
    "squeezenet1.1": "squeezenet1_1",
    **{f"mobilenet{m}": f"mobilenet{m}".replace(".", "_") for m in _MULTIPLIERS},
    **{f"mobilenetv2_{m}": f"mobilenet_v2_{m}".replace(".", "_") for m in _MULTIPLIERS},
}
_FAMILIES = ("alexnet", "densenet", "inception_", "mobilenet", "resnet", "squeezenet", "vgg")


def _models():
    """All models by name in the zoo."""
    functions = [name for name in __all__ if name.startswith(_FAMILIES)]
    names = {name: name for name in functions if name not in _OTHER_NAMES.values()}
    return {name: globals()[function] for name, function in {**names, **_OTHER_NAMES}.items()}


def model_names():
    """Return the names accepted by `get_model`, in alphabetical order.

    Returns
    -------
    list of str
    """
    return sorted(_models())


def get_model(name, **kwargs):
    """Create a model by name.

    Parameters
    ----------
    name : str
        E.g. "resnet50_v1"; case-insensitive.
    pretrained : bool
        Load published parameters; see `mxcy.gluon.model_zoo.model_store.get_model_file`.
    classes : int
        Number of outputs.
    ctx : Context
        Context of pretrained parameters.
    root : str
        Folder of parameter files, by default ``models`` in MXNET_HOME.
    device : Context
        Alias of `ctx`.

    Returns
    -------
    HybridBlock

    Raises
    ------
    ValueError
        If there is no such model.
    """
    models = _models()
    name = name.lower()
    if name not in models:
        options = "\n\t".join(model_names())
        raise ValueError(
            f"Model {name} is not supported{did_you_mean(name, models) or '.'} "
            f"Available options are\n\t{options}"
        )
    return models[name](**kwargs)
