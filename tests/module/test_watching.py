"""Callbacks and monitors write the same output as real MXNet 1.9.1."""

import logging
import re

import numpy as np
import pytest

import mxcy as mx


def param(nbatch, metric=None, epoch=0):
    return mx.model.BatchEndParam(epoch, nbatch, metric, locals())


def half_right():
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array([0, 1])], [mx.nd.array([[1, 0], [1, 0]])])
    return metric


def speeds(caplog, callback, metric):
    """The messages over two epochs of eight batches, the speeds cut out."""
    with caplog.at_level(logging.INFO):
        for epoch in range(2):
            for nbatch in range(8):
                callback(param(nbatch, metric, epoch))
    return [re.sub(r"Speed: [\d.]+ ", "Speed: X ", message) for message in caplog.messages]


def test_speedometer_without_a_metric(caplog):
    assert speeds(caplog, mx.callback.Speedometer(4, 3), None) == [
        f"Iter[{epoch}] Batch [{nbatch}]\tSpeed: X samples/sec"
        for epoch in range(2)
        for nbatch in (3, 6)
    ]


def test_speedometer_with_all_batches_of_the_epoch(caplog):
    actual = speeds(caplog, mx.callback.Speedometer(4, 3, auto_reset=False), half_right())
    assert actual == [
        f"Epoch[{epoch}] Batch [0-{nbatch}]\tSpeed: X samples/sec\taccuracy=0.500000"
        for epoch in range(2)
        for nbatch in (3, 6)
    ]


def test_speedometer_resets_local_metrics(caplog):
    metric = half_right()
    actual = speeds(caplog, mx.callback.Speedometer(4, 3), metric)
    assert actual[:2] == [
        "Epoch[0] Batch [0-3]\tSpeed: X samples/sec\taccuracy=0.500000",
        "Epoch[0] Batch [3-6]\tSpeed: X samples/sec\taccuracy=nan",
    ]
    assert metric.get_global()[1] == 0.5


def test_metric_in_the_log(caplog):
    metric, callback = half_right(), mx.callback.log_train_metric(2, auto_reset=True)
    with caplog.at_level(logging.INFO):
        for nbatch in range(3):
            callback(param(nbatch, metric))
        mx.callback.LogValidationMetricsCallback()(param(1, half_right(), epoch=3))
    assert caplog.messages == [
        "Iter[0] Batch[0] Train-accuracy=0.500000",
        "Iter[0] Batch[2] Train-accuracy=nan",
        "Epoch[3] Validation-accuracy=0.500000",
    ]


def test_progress_bar(caplog):
    bar = mx.callback.ProgressBar(7, length=10)
    with caplog.at_level(logging.INFO):
        for nbatch in (0, 1, 4, 7):
            bar(param(nbatch))
    assert caplog.messages == [
        "[----------] 0%\r",
        "[=---------] 15%\r",
        "[======----] 58%\r",
        "[==========] 100%\r",
    ]


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(mx.sym.BatchNorm(x, name="bn"), name="softmax")


def bound():
    mod = mx.mod.Module(network())
    mod.bind([("data", (4, 3))], [("softmax_label", (4,))])
    mod.init_params(mx.init.One())
    return mod


def test_checkpoints_at_the_end_of_epochs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mod = bound()
    mod.init_optimizer()
    callbacks = [
        mx.callback.do_checkpoint("a", period=2),
        mx.callback.module_checkpoint(mod, "b", save_optimizer_states=True),
    ]
    for epoch in range(3):
        for callback in callbacks:
            callback(epoch, mod.symbol, *mod.get_params())
    actual = sorted(path.name for path in tmp_path.iterdir())
    assert actual == [
        "a-0002.params",
        "a-symbol.json",
        *(f"b-000{n}.{kind}" for n in (1, 2, 3) for kind in ("params", "states")),
        "b-symbol.json",
    ]


BATCH = mx.io.DataBatch([mx.nd.arange(12).reshape((4, 3))], [mx.nd.zeros(4)])


def watched(monitor):
    """A monitor's report of one training batch."""
    mod = bound()
    mod.install_monitor(monitor)
    monitor.tic()
    mod.forward_backward(BATCH)
    return monitor.toc()


def test_monitor_has_the_statistics_of_real_mxnet():
    actual = {name: float(text) for _, name, text in watched(mx.mon.Monitor(1))}
    expected = {
        "fc_output": 19.326149,
        "bn_output": 0.99999505,
        "softmax_output": 0.5,
        "data": 6.493586,
        "fc_weight": 1,
        "fc_bias": 0,
        "bn_gamma": 1,
        "bn_beta": 0,
        "softmax_label": 0,
        "bn_moving_mean": 1.65,
        "bn_moving_var": 11.0250025,
    }
    assert {name: actual[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def test_monitor_pattern_order_and_statistic():
    monitor = mx.mon.Monitor(
        1, stat_func=lambda a: [a.sum(), a.mean(axis=0)], pattern=".*weight|data", sort=True
    )
    assert watched(monitor) == [
        (1, "data", "66.0\t[4.5 5.5 6.5]\t"),
        (1, "fc_weight", "6.0\t[1. 1. 1.]\t"),
    ]


def test_monitor_looks_at_inputs_too():
    assert len(watched(mx.mon.Monitor(1, monitor_all=True))) > len(watched(mx.mon.Monitor(1)))


def test_monitor_watches_every_so_manieth_batch():
    mod, monitor = bound(), mx.mon.Monitor(2, pattern="fc_output")
    mod.install_monitor(monitor)
    counts = []
    for _ in range(4):
        monitor.tic()
        mod.forward(BATCH)
        counts.append(len(monitor.toc()))
    assert counts == [1, 0, 1, 0]


def test_monitor_in_the_log(caplog):
    mod, monitor = bound(), mx.mon.Monitor(1, pattern="fc_weight")
    mod.install_monitor(monitor)
    with caplog.at_level(logging.INFO):
        monitor.tic()
        mod.forward(BATCH)
        monitor.toc_print()
    assert caplog.messages == ["Batch:       1 fc_weight                      1.0\t"]


def test_fit_shows_each_batch_to_the_monitor(caplog):
    with caplog.at_level(logging.INFO):
        mx.mod.Module(network()).fit(
            mx.io.NDArrayIter(np.ones((8, 3)), np.zeros(8), 4),
            monitor=mx.mon.Monitor(1, pattern="fc_weight"),
            num_epoch=1,
        )
    assert sum(message.startswith("Batch: ") for message in caplog.messages) == 2


def test_statistics_must_be_arrays():
    with pytest.raises(AssertionError, match="must be an NDArray or a list"):
        watched(mx.mon.Monitor(1, stat_func=lambda array: 1.0))
