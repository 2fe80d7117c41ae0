"""RecordIO files exchanged with MXNet: it reads ours, and writes the same bytes.

Runs where the environment names originals; see tests/originals.py.
"""

import random
from pathlib import Path

import pytest

from mxcy import recordio
from tests import originals

originals.skip_without_any()
pytestmark = pytest.mark.needs_real_mxnet
SCRIPT = Path(__file__).parent / "real_recordio.py"
real = originals.fixture_for(SCRIPT)
MAGIC = bytes.fromhex("0a23d7ce")


def test_random_records_are_the_same_bytes(real, tmp_path):
    draw = random.Random(0)
    pieces = [MAGIC, MAGIC, MAGIC[:2], b"\0", b"1234", b"abc"]
    records = [b"".join(draw.choices(pieces, k=draw.randint(0, 12))) for _ in range(500)]
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "ours.idx"), str(tmp_path / "ours.rec"), "w")
    for key, record in enumerate(records):
        writer.write_idx(key, record)
    writer.close()
    assert real() == [record.hex() for record in records]
    for ending in ("rec", "idx"):
        ours, theirs = ((tmp_path / f"{who}.{ending}").read_bytes() for who in ("ours", "theirs"))
        assert ours == theirs
