"""Whole networks: MXNet 1.9.1's names, files, shapes and attributes."""

import json

import pytest

import mxcy as mx
from tests.symbol.networks import NETWORKS, PATH, answer

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.__name__)
def test_as_the_original(network):
    assert answer(mx, network) == GOLDEN[network.__name__]
