"""Cases of the golden symbols: operators with the attributes and shapes of their samples.

``python -m tests.symbol.cases | PYTHON tests/data/make_symbol_golden.py``, with a PYTHON that has
MXNet 1.9.1, writes `tests/data/symbol_golden.json` anew.
"""

import json

from mxcy.symbol.attributes import text_of
from tests.ops.test_records import RECORDS, attrs_of, draw, samples_of

MOST = 2  # cases of one operator


def cases():
    """Dicts with op, attrs (texts), shapes and dtypes."""
    for name, record in RECORDS:
        if record.variadic and record.num_args is None:
            continue  # symbols of them are not made
        collected = []
        for sample in samples_of(record):
            arrays = draw(record, sample, (sample.dtypes or record.dtypes)[0])
            given = attrs_of(record, sample)
            collected.append(
                {
                    "op": name,
                    "attrs": {
                        key: text_of(record.schema.by_name[key], v) for key, v in given.items()
                    },
                    "shapes": [list(array.shape) for array in arrays],
                    "dtypes": ["bfloat16" if a.dtype.names else str(a.dtype) for a in arrays],
                }
            )
        unique = {json.dumps(case, sort_keys=True): case for case in collected}
        yield from list(unique.values())[:MOST]


if __name__ == "__main__":
    print(json.dumps(list(cases())))
