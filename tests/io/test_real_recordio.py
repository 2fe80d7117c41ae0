"""RecordIO files exchanged with the original: it reads ours, and writes the same bytes.

Runs where MXCY_REAL_MXNET_19 and MXCY_REAL_MXNET_20 name Pythons that have MXNet 1.9.1 and 2.0.0b1.
"""

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from mxcy import recordio

pytestmark = pytest.mark.needs_real_mxnet
SCRIPT = Path(__file__).parent / "real_recordio.py"
MAGIC = bytes.fromhex("0a23d7ce")


@pytest.mark.parametrize("version", ["19", "20"])
def test_random_records_are_the_same_bytes(version, tmp_path):
    variable = f"MXCY_REAL_MXNET_{version}"
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python with a real MXNet")
    draw = random.Random(0)
    pieces = [MAGIC, MAGIC, MAGIC[:2], b"\0", b"1234", b"abc"]
    records = [b"".join(draw.choices(pieces, k=draw.randint(0, 12))) for _ in range(500)]
    writer = recordio.MXIndexedRecordIO(str(tmp_path / "ours.idx"), str(tmp_path / "ours.rec"), "w")
    for key, record in enumerate(records):
        writer.write_idx(key, record)
    writer.close()
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-W", "ignore", str(SCRIPT)], cwd=tmp_path, env=environment, text=True,
        capture_output=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [record.hex() for record in records]
    for ending in ("rec", "idx"):
        ours, theirs = ((tmp_path / f"{who}.{ending}").read_bytes() for who in ("ours", "theirs"))
        assert ours == theirs
