"""Metrics beyond golden values: names, creation, configuration, invalid arguments."""

import math

import numpy as np
import pytest

import mxcy as mx
from mxcy import metric

LABEL, PRED = mx.nd.array([0, 1, 1]), mx.nd.array([[0.3, 0.7], [0, 1], [0.4, 0.6]])


def test_local_and_global_sums():
    measure = metric.Accuracy()
    assert math.isnan(measure.get()[1]) and str(measure) == "EvalMetric: {'accuracy': nan}"
    measure.update([LABEL], [PRED])
    measure.reset_local()
    measure.update([LABEL[1:]], [PRED[1:]])
    assert measure.get() == ("accuracy", 1.0)
    assert measure.get_global_name_value() == [("accuracy", 0.8)]
    measure.reset()
    assert math.isnan(measure.get_global()[1])


def test_accuracy_accepts_lists_and_arrays():
    for labels, preds in (
        (LABEL, PRED),
        ([LABEL.asnumpy()], [PRED]),
        ([LABEL], [mx.nd.array([1, 1, 1])]),
    ):
        measure = metric.Accuracy()
        measure.update(labels, preds)
        assert measure.get()[1] == pytest.approx(2 / 3)


def test_update_dict_selects_by_name():
    measure = metric.Accuracy(output_names=["out"], label_names=["label"])
    measure.update_dict({"label": LABEL, "other": LABEL}, {"out": PRED, "loss": LABEL})
    assert measure.get()[1] == pytest.approx(2 / 3)
    with pytest.raises(KeyError):
        measure.update_dict({"label": LABEL}, {"loss": LABEL})


def test_create():
    assert isinstance(metric.create("acc", axis=2), metric.Accuracy)
    assert isinstance(metric.create(metric.MSE()), metric.MSE)
    assert metric.create('{"metric": "acc", "axis": 3}').axis == 3
    assert isinstance(metric.create(["acc", "mse"]), metric.CompositeEvalMetric)
    assert isinstance(metric.create(lambda label, pred: 0), metric.CustomMetric)
    with pytest.raises(AssertionError, match="nothing is not registered"):
        metric.create("nothing")


def test_config_makes_an_equal_metric():
    for measure in (metric.TopKAccuracy(top_k=3), metric.CrossEntropy(eps=1e-3)):
        config = measure.get_config()
        assert type(metric.create(dict(config, name="again"))) is type(measure)
    with pytest.raises(NotImplementedError, match="cannot be serialized"):
        metric.CustomMetric(max).get_config()


def test_composite():
    both = metric.CompositeEvalMetric(["acc", "f1"])
    both.add("ce")
    both.update([LABEL], [PRED])
    names, values = both.get()
    assert names == ["accuracy", "f1", "cross-entropy"] and values[1] == 0.8
    assert isinstance(both.get_metric(1), metric.F1)
    assert isinstance(both.get_metric(9), ValueError)
    both.update_dict({"label": LABEL}, {"out": PRED})
    both.reset_local()
    assert math.isnan(both.get()[1][0]) and not math.isnan(both.get_global()[1][0])
    both.reset()
    assert math.isnan(both.get_global()[1][0])


def test_custom_metrics():
    def error(label, pred):
        assert isinstance(label, np.ndarray)
        return abs(label - pred).mean()

    measure = metric.np(error)
    measure.update([mx.nd.array([1])], [mx.nd.array([3])])
    assert measure.get() == ("error", 2.0)
    assert metric.CustomMetric(lambda label, pred: 0).name == "custom(<lambda>)"
    pairs = metric.CustomMetric(lambda label, pred: (4, 2), name="pairs")
    pairs.update([LABEL], [LABEL])
    assert pairs.get() == ("pairs", 2.0)
    with pytest.raises(ValueError, match="does not match"):
        pairs.update([LABEL], [LABEL, LABEL])
    extra = metric.CustomMetric(error, allow_extra_outputs=True)
    extra.update([mx.nd.array([1])], [mx.nd.array([3]), LABEL])
    assert extra.get()[1] == 2


@pytest.mark.parametrize("kind", [metric.Loss, metric.Torch, metric.Caffe])
def test_loss(kind):
    measure = kind()
    measure.update(None, [mx.nd.array([1, 2]), mx.nd.array([[3, 3]])])
    measure.update(None, mx.nd.array([4.0]))
    assert measure.get() == (kind.__name__.lower(), 2.6)


def test_micro_pearson_correlates_all_elements():
    rng = np.random.RandomState(0)
    label, pred = rng.randn(20), rng.randn(20) + 100
    measure = metric.PearsonCorrelation(average="micro")
    for part in np.split(np.arange(20), [3, 11]):
        measure.update([mx.nd.array(label[part])], [mx.nd.array(pred[part])])
    assert measure.get()[1] == pytest.approx(np.corrcoef(label, pred)[0, 1], abs=1e-4)


def test_perplexity_along_another_axis():
    pred = mx.nd.array([[[0.2, 0.5], [0.8, 0.5]]])
    measure = metric.Perplexity(None, axis=1)
    with pytest.raises(AssertionError, match="shape mismatch"):
        measure.update([mx.nd.array([[1, 0, 0]])], [pred])
    measure.update([mx.nd.array([[1, 0]])], [pred])
    assert measure.get()[1] == pytest.approx(math.exp(-(math.log(0.8) + math.log(0.5)) / 2))


def test_refused_input():
    with pytest.raises(ValueError, match="Shape of labels 2 does not match"):
        metric.Accuracy().update([mx.nd.array([0, 1])], [PRED])
    with pytest.raises(ValueError, match="Shape of labels 2 does not match"):
        metric.Accuracy().update([LABEL, LABEL], [PRED])
    with pytest.raises(ValueError, match="binary"):
        metric.F1().update([mx.nd.array([0, 1, 2])], [PRED])
    with pytest.raises(AssertionError, match="Please use Accuracy"):
        metric.TopKAccuracy(1)
    with pytest.raises(AssertionError, match="no more than 2 dims"):
        metric.TopKAccuracy(2).update([LABEL], [PRED.reshape((3, 2, 1))])
    with pytest.raises(AssertionError, match="2 labels"):
        metric.CrossEntropy().update([mx.nd.array([0, 1])], [PRED])


def test_perplexity_clips_labels_out_of_range():
    """As `pick` does, which MXNet uses."""
    pred = mx.nd.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    for label, right in ([0, 2, 1], [0.2, 0.4, 0.5]), ([5, -3, 0], [0.8, 0.6, 0.5]):
        metric = mx.metric.Perplexity(ignore_label=None)
        metric.update([mx.nd.array(label)], [pred])
        assert metric.get()[1] == pytest.approx(np.exp(-np.log(right).mean()))


def test_binary_scores_of_several_labels_per_sample_and_of_other_classes():
    labels = mx.nd.array([[0, 1], [1, 1], [0, 0]])
    scores = mx.nd.array([[[0.9, 0.2], [0.1, 0.8]], [[0.3, 0.6], [0.7, 0.4]], [[1, 1], [0, 0]]])
    score = mx.metric.F1(average="micro")
    score.update([labels], [scores])
    assert score.get()[1] == pytest.approx(0.8) and score.num_inst == 6
    score = mx.metric.MCC(average="micro")  # predictions of class 2 are negative
    score.update([mx.nd.array([0, 1, 0, 1])], [mx.nd.array(np.eye(3)[[0, 1, 2, 2]])])
    assert score.get()[1] == pytest.approx(1 / np.sqrt(3)) and score.num_inst == 4
