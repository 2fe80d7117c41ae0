"""``python -m mxcy.bench``: the same as ``mxcy-bench``."""

import sys

from mxcy.bench.program import main

if __name__ == "__main__":
    sys.exit(main())
