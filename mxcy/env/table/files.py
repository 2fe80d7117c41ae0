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
             "Where pretrained models are fetched from: gluon/models/NAME.zip in there.",
             test="env/test_files.py::test_gluon_repo"),
    Variable("MXCY_MAX_IMAGE_PIXELS", integer(1), 100_000_000, "C", "mxcy._library.opencv",
             "PNG, JPEG, GIF, BMP and WebP images with more pixels are refused.",
             test="env/test_files.py::test_max_image_pixels"),
    Variable("MXCY_MAX_ANNOUNCED_BYTES", integer(1), 2**28, "C", "mxcy.ndarray.state",
             "An array of a file that takes more memory than its file holds of it (a csr array "
             "without elements has a number for each row) is refused beyond this.",
             test="env/test_files.py::test_max_announced_bytes"),
)
