"""Words of texts: counting them and numbering them."""

from mxcy.contrib.text import utils, vocab

__all__ = ["utils", "vocab"]
