"""End the jobs that tools/launch.py runs on this machine for this user.

python tools/kill-mxnet.py
"""

import sys

from mxcy.tools.kill_mxnet import main

if __name__ == "__main__":
    sys.exit(main())
