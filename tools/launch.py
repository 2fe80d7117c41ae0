"""Start a distributed job: runs ``python -m mxcy.tools.launch``, which imports little of mxcy.

python tools/launch.py -n 4 python train.py --kv-store dist_sync
"""

import os
import sys

if __name__ == "__main__":
    os.execv(sys.executable, [sys.executable, "-m", "mxcy.tools.launch", *sys.argv[1:]])
