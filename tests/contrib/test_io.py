"""Data loaders of Gluon in modules, metrics in TensorBoard, and other names of operators."""

import sys
import types

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError


def test_batches_of_a_loader():
    data = np.arange(20, dtype="float64").reshape(5, 4)
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, np.arange(5)), 2)
    batches = mx.contrib.io.DataLoaderIter(loader, label_name="label")
    assert batches.provide_data[0] == ("data", (2, 4)) and batches.batch_size == 2
    assert batches.provide_label[0] == ("label", (2,))
    for _ in range(2):
        actual = list(batches)
        assert [batch.pad for batch in actual] == [0, 0, 1]
        assert actual[0].data[0].dtype == np.float32
        assert actual[2].data[0].asnumpy().tolist() == [[16, 17, 18, 19], [0] * 4]
        assert actual[2].label[0].asnumpy().tolist() == [4, 0]
        batches.reset()


def test_a_module_learns_from_a_loader():
    draw = np.random.RandomState(0)
    data = draw.randn(60, 5).astype("float32")
    label = (data @ draw.randn(5)).round()
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(data, label), 8)
    batches = mx.contrib.io.DataLoaderIter(loader, label_name="lin_label")
    output = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1)
    output = mx.sym.LinearRegressionOutput(output, mx.sym.var("lin_label"))
    mod = mx.mod.Module(output, label_names=["lin_label"])
    mx.random.seed(0)
    mod.fit(batches, eval_metric="mse", optimizer_params={"learning_rate": 0.1}, num_epoch=20)
    assert mod.score(batches, "mse")[0][1] < 0.2


class Writer:
    """Records what would be written."""

    def __init__(self, folder):
        self.folder, self.written = folder, []

    def add_scalar(self, name, value, global_step):
        self.written.append((name, value, global_step))


def test_metrics_for_tensorboard(monkeypatch):
    monkeypatch.setitem(sys.modules, "mxboard", types.SimpleNamespace(SummaryWriter=Writer))
    metric = mx.metric.create(["acc", "mse"])
    metric.update([mx.nd.array([1, 0])], [mx.nd.array([[0, 1], [0, 1]])])
    log = mx.contrib.tensorboard.LogMetricsCallback("logs", prefix="train")
    log(mx.model.BatchEndParam(epoch=3, nbatch=1, eval_metric=metric, locals=None))
    log(mx.model.BatchEndParam(epoch=4, nbatch=1, eval_metric=None, locals=None))
    assert log.summary_writer.folder == "logs"
    assert log.summary_writer.written[0] == ("train-accuracy", 0.5, 3)
    assert [step for _, _, step in log.summary_writer.written] == [3, 3]


def test_event_files_of_tensorboardx(tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    from tensorboardX.proto.event_pb2 import Event

    log = mx.callback.LogMetricsCallback(str(tmp_path), prefix="train")
    assert mx.contrib.tensorboard.LogMetricsCallback is type(log)
    metric = mx.metric.Accuracy()
    for epoch in range(3):
        metric.update([mx.nd.array([1, epoch])], [mx.nd.array([[0, 1], [0, 1]])])
        log(mx.model.BatchEndParam(epoch=epoch, nbatch=1, eval_metric=metric, locals=None))
    log.summary_writer.close()
    (path,) = tmp_path.iterdir()
    content, points = path.read_bytes(), []
    while content:  # records: length, its checksum, an event, its checksum
        size = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + size])
        points += [(event.step, v.tag, v.simple_value) for v in event.summary.value]
        content = content[16 + size :]
    assert [(step, tag) for step, tag, _ in points] == [(i, "train-accuracy") for i in range(3)]
    assert [value for *_, value in points] == pytest.approx([0.5, 0.75, 4 / 6])


def test_missing_tensorboard_packages(monkeypatch):
    for name in ("mxboard", "tensorboardX", "torch.utils.tensorboard", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MXNetError, match=r"pip install 'mxcy\[tensorboard\]'"):
        mx.contrib.tensorboard.LogMetricsCallback("logs")


def test_oldest_paths_of_operators():
    assert mx.contrib.nd.arange_like is mx.nd.contrib.arange_like
    assert mx.contrib.symbol.foreach is mx.sym.contrib.foreach
    assert "box_nms" in dir(mx.contrib.ndarray)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mx.contrib.nd.nothing  # noqa: B018
