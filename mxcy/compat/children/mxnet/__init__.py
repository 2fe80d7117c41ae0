"""What ``import mxnet`` finds in such a process: it makes room for mxcy."""

import sys

if __name__ == "mxnet":
    import mxcy
    from mxcy import compat

    del sys.modules["mxnet"]
    compat.install(replace=True)
    sys.modules["mxnet"] = mxcy
