"""Metrics of MXNet 2.x; expected values are 2.0.0b1's unless obvious."""

import math

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import metric

LABEL = mx.nd.array([0, 1, 1, 0])
SCORES = mx.nd.array([[0.3, 0.7], [0.2, 0.8], [0.6, 0.4], [0.9, 0.1]])
CLASSES = mx.nd.array([0, 1, 2, 2])
THREE = mx.nd.array([[0.8, 0.1, 0.1], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]])


def value(measure, *batches):
    for label, pred in batches:
        measure.update([label], [pred])
    return measure.get()[1]


def test_create_makes_this_kind():
    for name in ("acc", "f1", "perplexity", "ce", "loss", ["acc", "mse"], lambda label, pred: 1):
        assert isinstance(metric.create(name), metric.EvalMetric)
    assert not isinstance(mx.metric.create("f1"), metric.EvalMetric)
    both = metric.CompositeEvalMetric(["acc"])
    both.add("binaryaccuracy")
    assert all(isinstance(one, metric.EvalMetric) for one in both.metrics)
    assert metric.np(max).name == "max"


def test_accuracy():
    assert value(metric.Accuracy(), (LABEL, SCORES)) == 0.5
    assert value(metric.TopKAccuracy(2), (CLASSES, THREE)) == 0.75
    binary = metric.BinaryAccuracy(threshold=0.35)
    assert value(binary, (LABEL, mx.nd.array([0.3, 0.4, 0.5, 0.6]))) == 0.75


def test_f1_counts_all_batches_together():
    halves = [(LABEL[:2], SCORES[:2]), (LABEL[2:], SCORES[2:])]
    assert value(metric.F1(), *halves) == pytest.approx(0.5)
    assert value(metric.F1(), (LABEL, mx.nd.array([0.7, 0.8, 0.4, 0.1]))) == pytest.approx(0.5)
    assert value(metric.Fbeta(beta=2), (CLASSES[:2], SCORES[:2])) == pytest.approx(5 / 6)
    assert math.isnan(metric.F1().get()[1])
    measure = metric.F1()
    value(measure, (LABEL, SCORES))
    measure.reset()
    assert math.isnan(measure.get()[1])


@pytest.mark.parametrize(
    ("average", "expected"), [("micro", 0.5), ("macro", 0.5), (None, [1, 0, 0.5])]
)
def test_f1_of_several_classes(average, expected):
    measure = metric.F1(class_type="multiclass", average=average)
    assert value(measure, (CLASSES, THREE)) == pytest.approx(expected)


def test_f1_of_several_decisions():
    label = mx.nd.array([[1, 0], [1, 1], [0, 1]])
    pred = mx.nd.array([[0.9, 0.2], [0.1, 0.8], [0.3, 0.7]])
    per_class = value(metric.F1(class_type="multilabel", average=None), (label, pred))
    assert per_class == pytest.approx([2 / 3, 1])
    with pytest.raises(ValueError, match="Wrong class_type"):
        value(metric.F1(class_type="other"), (label, pred))
    with pytest.raises(ValueError, match="Wrong label"):
        value(metric.F1(), (CLASSES, THREE))


def test_correlations():
    expected = np.corrcoef([0, 1, 1, 0], [1, 1, 0, 0])[0, 1]
    assert value(metric.MCC(), (LABEL, SCORES)) == pytest.approx(expected)
    assert value(metric.PCC(), (LABEL, SCORES)) == pytest.approx(expected)
    halves = [
        (mx.nd.array([1, 5]), mx.nd.array([3, 8])),
        (mx.nd.array([2, 2]), mx.nd.array([1, 9])),
    ]
    expected = np.corrcoef([1, 5, 2, 2], [3, 8, 1, 9])[0, 1]
    assert value(metric.PearsonCorrelation(), *halves) == pytest.approx(expected, abs=1e-6)


def test_binary_scores_take_either_form():
    """Values of MXNet 2.0.0b1: of two columns, the last one and the threshold decide."""
    label = mx.nd.array([0, 1, 0, 1, 1])
    both = mx.nd.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.7, 0.3], [0.6, 0.55]])
    for pred in (both, both[:, 1:], both[:, 1]):
        assert value(metric.F1(), (label, pred)) == pytest.approx(2 / 3)
        assert value(metric.F1(threshold=0.58), (label, pred)) == pytest.approx(0.4)
        assert value(metric.MCC(), (label, pred)) == pytest.approx(1 / 6)
    pairs = mx.nd.stack(label, 1 - label, axis=1), mx.nd.stack(both, both[::-1], axis=1)
    assert value(metric.F1(), pairs) == pytest.approx(8 / 11)
    assert value(metric.MCC(), pairs) == pytest.approx(0.40824829)
    for kind in (metric.F1, metric.MCC):
        with pytest.raises(ValueError, match="two classes"):
            value(kind(), (label, mx.nd.ones((5, 3))))
        with pytest.raises(ValueError, match="Wrong label"):
            value(kind(), (label + 1, both))


def test_errors_are_averaged_over_instances():
    batches = [
        (mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[1, 3], [3, 1]])),
        (mx.nd.array([5]), mx.nd.array([1])),
    ]
    assert value(metric.MAE(), *batches) == pytest.approx((0.5 + 1.5 + 4) / 3)
    assert value(metric.MSE(), *batches) == pytest.approx((0.5 + 4.5 + 16) / 3)
    assert value(metric.RMSE(), *batches) == pytest.approx(math.sqrt(7))
    assert value(metric.MeanPairwiseDistance(), *batches) == pytest.approx((1 + 3 + 4) / 3)
    assert value(metric.MeanPairwiseDistance(p=1), *batches[:1]) == pytest.approx(2)


@pytest.mark.parametrize(
    "labels, predictions, mae, samples",  # of MXNet 2.0.0b1
    [
        ((4,), (4, 1), 1.25, 4),
        ((3,), (4, 3), 4.5, 3),
        ((3, 1), (4,), 1.16667, 3),
        ((1, 4), (4,), 0, 1),
        ((1,), (5, 4), 9.5, 1),
        ((2, 2, 1), (2, 2), 1, 2),
    ],
)
def test_errors_of_arrays_that_broadcast(labels, predictions, mae, samples):
    labels, predictions = (mx.nd.arange(np.prod(s)).reshape(s) for s in (labels, predictions))
    for kind, error in ((metric.MAE(), abs), (metric.MSE(), np.square)):
        difference = labels.asnumpy() - predictions.asnumpy()
        assert value(kind, (labels, predictions)) == pytest.approx(error(difference).mean())
        assert kind.num_inst == samples
    assert value(metric.MAE(), (labels, predictions)) == pytest.approx(mae, abs=1e-5)


@pytest.mark.parametrize("labels, predictions", [((4,), (4, 3)), ((4,), (2, 2)), ((4,), (3,))])
def test_errors_of_arrays_that_do_not_broadcast(labels, predictions):
    with pytest.raises(mx.MXNetError, match="do not broadcast"):
        metric.RMSE().update([mx.nd.ones(labels)], [mx.nd.ones(predictions)])


def test_multilabel_decisions_of_one_sample():
    kind = metric.F1(class_type="multilabel")
    labels, scores = mx.nd.array([0, 1, 1]), mx.nd.array([0.7, 0.9, 0.6])
    assert value(kind, (labels, scores)) == pytest.approx(0.8) and kind.num_inst == 1
    kind = metric.F1()
    assert value(kind, (mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))) == 1 and kind.num_inst == 6


def test_cosine_similarity():
    vectors = mx.nd.array([[1, 0], [0, 0]]), mx.nd.array([[1, 1], [1, 1]])
    assert value(metric.MeanCosineSimilarity(), vectors) == pytest.approx(math.sqrt(0.5) / 2)


def test_cross_entropy():
    plain = -np.log([0.8, 0.3, 0.8, 0.1])
    assert value(metric.CrossEntropy(), (CLASSES, THREE)) == pytest.approx(plain.mean())
    ignoring = metric.CrossEntropy(ignore_label=2)
    assert value(ignoring, (CLASSES, THREE)) == pytest.approx(plain[:2].mean())
    logits = metric.CrossEntropy(from_logits=True)
    assert value(logits, (CLASSES, THREE.log() + 5)) == pytest.approx(plain.mean(), rel=1e-5)
    limited = metric.CrossEntropy(eps=0.4)
    assert value(limited, (CLASSES, THREE)) == pytest.approx(-np.log([0.8, 0.4, 0.8, 0.4]).mean())
    first_axis = metric.CrossEntropy(axis=0)
    assert value(first_axis, (CLASSES, THREE.T)) == pytest.approx(plain.mean())
    assert value(metric.Perplexity(), (CLASSES, THREE)) == pytest.approx(math.exp(plain.mean()))


def test_helpers():
    assert metric.one_hot(np.array([0, 2]), 3).tolist() == [[1, 0, 0], [0, 0, 1]]
    decisions = metric.predict_with_threshold(np.array([[0.2, 0.7]]), np.array([0.1, 0.8]))
    assert decisions.tolist() == [[True, False]]


@pytest.mark.parametrize("average, total", [("micro", 2.4), ("macro", 2.4)])
def test_sums_of_f1_are_scores_times_samples(average, total):
    metric = mx.gluon.metric.F1(average=average)
    labels, scores = mx.nd.array([0, 1, 1]), mx.nd.array([[0.3, 0.7], [0.0, 1.0], [0.4, 0.6]])
    metric.update([labels], [scores])
    assert metric.num_inst == 3 and metric.sum_metric == pytest.approx(total)
    assert metric.get()[1] == pytest.approx(total / 3)
