"""Start a distributed job, like ``python -m mxcy.tools.launch``.

python tools/launch.py -n 4 python train.py --kv-store dist_sync
"""

import sys

from mxcy.tools.launch import main

if __name__ == "__main__":
    sys.exit(main())
