"""Create list files and RecordIO files of images, like ``python -m mxcy.tools.im2rec``.

python tools/im2rec.py --list --recursive data/pets images/
"""

import sys

from mxcy.tools.im2rec import main

if __name__ == "__main__":
    sys.exit(main())
