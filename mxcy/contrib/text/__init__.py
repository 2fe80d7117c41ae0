"""`mx.contrib.text`: vocabularies and word embeddings."""

from mxcy._base.listing import listing
from mxcy.contrib.text import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]

__dir__ = listing(__name__)
