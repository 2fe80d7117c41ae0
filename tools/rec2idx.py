"""Write the index of a RecordIO file, like ``python -m mxcy.tools.rec2idx``.

python tools/rec2idx.py data/pets.rec data/pets.idx
"""

import sys

from mxcy.tools.rec2idx import main

if __name__ == "__main__":
    sys.exit(main())
