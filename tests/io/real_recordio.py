"""The half of test_real_recordio.py that runs under a real MXNet.

It reads ours.rec by ours.idx in the current folder, prints the records in hexadecimal as JSON, and
writes them to theirs.rec and theirs.idx.
"""

import json

from mxnet import recordio

reader = recordio.MXIndexedRecordIO("ours.idx", "ours.rec", "r")
records = [reader.read_idx(key) for key in reader.keys]
writer = recordio.MXIndexedRecordIO("theirs.idx", "theirs.rec", "w")
for key, record in zip(reader.keys, records):  # noqa: B905
    writer.write_idx(key, record)
writer.close()
print(json.dumps([record.hex() for record in records]))
