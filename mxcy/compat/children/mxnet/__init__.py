"""The mxnet that ``import mxnet`` finds in spawned processes: replaces itself with mxcy."""

import sys

if __name__ == "mxnet":
    import mxcy
    from mxcy import compat

    del sys.modules["mxnet"]
    compat.install(replace=True)
    sys.modules["mxnet"] = mxcy
