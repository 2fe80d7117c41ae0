"""Predefined networks."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.model_zoo import (
    model_store as model_store, vision as vision,
)
from mxcy.gluon.model_zoo.vision import (
    get_model as get_model,
)
