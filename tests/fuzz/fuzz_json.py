"""Damaged symbol files: as bytes, and as JSON with other values."""

import copy
import json
from pathlib import Path

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 1200
DATA = Path(__file__).resolve().parents[1] / "data"
_texts = []
_ODD = (
    None,
    True,
    -1,
    0,
    1,
    2,
    7,
    2**31,
    2**63,
    2**64,
    1.5,
    1e308,
    "",
    "x",
    "null",
    "Convolution",
    "(1,2",
    "é",
    [],
    [0],
    [[0, 0, 0]],
    {},
    {"a": 1},
    [[]],
    [None],
)


def prepare():
    """Read the files."""
    _texts.extend(path.read_bytes() for path in sorted((DATA / "symbols").glob("*.json")))


def case(seed):
    """Load a symbol, list what it has, infer shapes and write it again."""
    rng = generator(seed)
    text = rng.choice(_texts)
    if rng.random() < 0.5:
        content = damaged(text, rng).decode("utf-8", "replace")
    else:
        tree = json.loads(text)
        for _ in range(rng.randint(1, 3)):
            change(tree, rng)
        content = json.dumps(tree)
    with expected():
        symbol = mx.sym.load_json(content)
        symbol.list_arguments(), symbol.list_outputs(), symbol.attr_dict()
        symbol.tojson()
        if len(content) < 50_000:
            symbol.infer_shape_partial(data=(1, 1, 28, 28))


def change(tree, rng):
    """Replace, remove or copy a value anywhere in a tree of lists and dicts."""
    place = tree
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            return
        key = rng.choice(list(keys))
        if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.8:
            place = place[key]
            continue
        break
    way = rng.random()
    if way < 0.2:
        del place[key]
    elif way < 0.4 and isinstance(place, list):
        place.insert(rng.randrange(len(place) + 1), copy.deepcopy(place[key]))
    else:
        place[key] = copy.deepcopy(rng.choice(_ODD))  # later changes may go into it
