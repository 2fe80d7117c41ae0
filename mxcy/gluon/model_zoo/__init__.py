"""Predefined networks."""

from mxcy._base.listing import listing
from mxcy.gluon.model_zoo import model_store, vision
from mxcy.gluon.model_zoo.vision import get_model

__all__ = ["get_model", "model_store", "vision"]

__dir__ = listing(__name__)
