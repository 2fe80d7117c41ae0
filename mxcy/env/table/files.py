"""Files and downloads."""

import os

from mxcy.env.kinds import address, integer, path
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_HOME", path, lambda: os.path.expanduser(os.path.join("~", ".mxnet")), "C",
             "mxcy.base", "The folder for downloaded models, data sets and embeddings.",
             test="env/test_files.py::test_home"),
    Variable("MXNET_GLUON_REPO", address,
             "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/", "C",
             "mxcy._files.download",
             "Base address of pretrained models, below which they are gluon/models/NAME.zip.",
             test="env/test_files.py::test_gluon_repo"),
    Variable("MXCY_MAX_IMAGE_PIXELS", integer(1), 100_000_000, "C", "mxcy._library.opencv",
             "Maximum number of pixels of PNG, JPEG, GIF, BMP and WebP images.",
             test="env/test_files.py::test_max_image_pixels"),
    Variable("MXCY_MAX_ANNOUNCED_BYTES", integer(1), 2**28, "C", "mxcy.ndarray.state",
             "Maximum memory of a loaded array beyond its size in the file (an empty csr array "
             "has a row pointer per row).",
             test="env/test_files.py::test_max_announced_bytes"),
)
