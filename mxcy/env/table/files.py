"""Files and downloads."""

import os

from mxcy.env.kinds import address, path
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_HOME", path, lambda: os.path.expanduser(os.path.join("~", ".mxnet")), "C",
             "mxcy.base", "The folder for downloaded models, data sets and embeddings.",
             test="env/test_files.py::test_home"),
    Variable("MXNET_GLUON_REPO", address,
             "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/", "C",
             "mxcy.gluon.utils",
             "Where pretrained models are fetched from: gluon/models/NAME.zip in there.",
             test="env/test_files.py::test_gluon_repo"),
)  # fmt: skip
