"""Bulk segments, with the counts of real MXNet for 18 operators."""

import math
from types import SimpleNamespace

import pytest

from mxcy.graph.planning.segments import segments

STEP = SimpleNamespace(call=SimpleNamespace(kernel="exp"))
REFERENCE = SimpleNamespace(call=SimpleNamespace(kernel=None))


def plan_of(forward=18, backward=18, once=0):
    steps = [STEP] * (once + forward + backward)
    return SimpleNamespace(steps=steps, once=[()] * once, forward=once + forward)


def counts(training=True, plan=None, **settings):
    forward, backward = segments(plan or plan_of(), settings, training)
    return len(forward), len(backward)


def test_training_by_default():
    assert counts() == (2, 2)


@pytest.mark.parametrize("most", [1, 3, 5, 9, 18, 40])
def test_the_most_operators_of_a_segment(most):
    wanted = math.ceil(18 / most)
    assert counts(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN=most) == (wanted, wanted)


def test_forward_and_backward_apart():
    actual = counts(
        MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD=3, MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD=9
    )
    assert actual == (6, 2)


def test_training_switched_off():
    assert counts(MXNET_EXEC_BULK_EXEC_TRAIN=False) == (18, 18)
    assert counts(MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN=0) == (18, 18)


def test_prediction():
    plan = plan_of(backward=0)
    assert counts(False, plan) == (1, 0)
    assert counts(False, plan, MXNET_EXEC_BULK_EXEC_INFERENCE=False) == (18, 0)
    assert counts(False, plan, MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN=3) == (1, 0)


def test_segments_follow_each_other():
    forward, backward = segments(plan_of(once=2), {}, True)
    assert forward == [(2, 16), (17, 19)] and backward == [(20, 34), (35, 37)]


def test_steps_without_a_kernel_stand_alone():
    plan = plan_of(forward=6, backward=0)
    plan.steps[2] = plan.steps[3] = REFERENCE
    assert segments(plan, {}, False)[0] == [(0, 1), (2, 2), (3, 3), (4, 5)]


def test_nothing_to_group():
    assert counts(False, plan_of(0, 0)) == (0, 0)
