"""Write the index of a RecordIO file, with keys 0, 1, 2, ...

python -m mxcy.tools.rec2idx data/pets.rec data/pets.idx
"""

import argparse
import os

from mxcy._base.files import replacing
from mxcy._files.record_stream import read_record

__all__ = ["main"]

try:
    from tqdm import tqdm
except ImportError:  # only shows progress
    tqdm = None


def _offsets(file, name):
    """Yield the offset of each record of a file."""
    while True:
        offset = file.tell()
        if read_record(file, name) is None:
            return
        yield offset


def main(argv=None):
    """Run the program.

    Parameters
    ----------
    argv : list of str, optional
        Command line; by default that of this process.
    """
    parser = argparse.ArgumentParser(description="Write the index of a RecordIO file")
    parser.add_argument("record", help="the RecordIO file")
    parser.add_argument("index", help="the index to write")
    args = parser.parse_args(argv)
    if not os.path.isfile(args.record):
        parser.error(f"there is no file {args.record}")
    size, done = os.path.getsize(args.record), 0
    bar = tqdm(total=size, unit="B", unit_scale=True, disable=None) if tqdm else None
    with open(args.record, "rb") as records, replacing(args.index) as index:
        for key, offset in enumerate(_offsets(records, args.record)):
            index.write(b"%d\t%d\n" % (key, offset))
            if bar is not None:
                bar.update(records.tell() - done)
                done = records.tell()
    if bar is not None:
        bar.close()


if __name__ == "__main__":
    main()
