"""End this user's jobs started by tools/launch.py on this machine.

python tools/kill-mxnet.py
"""

import sys

from mxcy.tools.kill_mxnet import main

if __name__ == "__main__":
    sys.exit(main())
