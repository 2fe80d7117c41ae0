"""The estimator and its handlers."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.contrib import estimator as estimators
from mxcy.gluon.contrib.estimator import Estimator
from mxcy.gluon.data import ArrayDataset, DataLoader

LOSS = mx.gluon.loss.L2Loss()


def loader(count=12, batch=4):
    random = np.random.RandomState(0)
    data = random.uniform(-1, 1, (count, 3)).astype("float32")
    return DataLoader(ArrayDataset(data, data.sum(axis=1, keepdims=True)), batch)


def make(trainer=True, **kwargs):
    net = mx.gluon.nn.Dense(1)
    if trainer:
        net.initialize(ctx=kwargs.get("context") or kwargs.get("device"))
        kwargs["trainer"] = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    estimator = Estimator(net, LOSS, **kwargs)
    estimator.logger.handlers = []
    return estimator


class Counter(
    estimators.TrainBegin,
    estimators.TrainEnd,
    estimators.EpochBegin,
    estimators.EpochEnd,
    estimators.BatchBegin,
    estimators.BatchEnd,
):
    """Records its calls."""

    def __init__(self, stop_after=None, priority=0):
        self.events, self.stop_after, self.priority = [], stop_after, priority

    def train_begin(self, estimator, *args, **kwargs):
        self.events.append("train_begin")

    def train_end(self, estimator, *args, **kwargs):
        self.events.append("train_end")

    def epoch_begin(self, estimator, *args, **kwargs):
        self.events.append("epoch_begin")

    def epoch_end(self, estimator, *args, **kwargs):
        self.events.append("epoch_end")

    def batch_begin(self, estimator, *args, batch, **kwargs):
        self.events.append("batch_begin")

    def batch_end(self, estimator, *args, batch, pred, label, loss, **kwargs):
        assert batch[0].shape[0] == sum(array.shape[0] for array in pred)
        self.events.append("batch_end")
        return self.events.count("batch_end") == self.stop_after


def test_it_learns_and_initializes():
    with pytest.warns(UserWarning, match="No trainer specified"):
        estimator = make(trainer=False, initializer=mx.init.One())
    assert estimator.net.weight.shape == (1, 0)
    estimator.trainer.set_learning_rate(0.5)
    estimator.fit(loader(), loader(), epochs=30)
    assert estimator.train_metrics[0].name == "training l2loss"
    assert estimator.val_metrics[0].get() == ("validation l2loss", pytest.approx(0, abs=1e-3))
    with pytest.warns(UserWarning, match="already fully initialized"):
        Estimator(estimator.net, LOSS, initializer=mx.init.One(), trainer=estimator.trainer)


@pytest.mark.parametrize(
    ("options", "epochs", "batches"),
    [({"epochs": 2}, 2, 6), ({"batches": 4}, 2, 4), ({"batches": 3}, 1, 3)],
)
def test_for_how_long(options, epochs, batches):
    counter = Counter()
    make().fit(loader(), event_handlers=counter, **options)
    assert counter.events.count("epoch_end") == epochs
    assert counter.events.count("batch_end") == batches
    assert counter.events[0] == "train_begin" and counter.events[-1] == "train_end"
    assert counter.events[1:4] == ["epoch_begin", "batch_begin", "batch_end"]


def test_handlers_end_epochs_and_have_priorities():
    made, order = make(), []

    class Late(estimators.BatchEnd):
        priority = 5

        def batch_end(self, estimator, *args, **kwargs):
            order.append("late")

    class Early(estimators.BatchEnd):
        priority = -5

        def batch_end(self, estimator, *args, **kwargs):
            order.append("early")

    counter = Counter(stop_after=1)
    made.fit(loader(), epochs=1, event_handlers=[Late(), counter, Early()])
    assert order == ["early", "late"]
    assert counter.events.count("batch_end") == 1


def test_handlers_can_be_prepared_and_sorted_by_subclasses():
    class Silent(Estimator):
        def _prepare_default_handlers(self, val_data, event_handlers):
            handlers = super()._prepare_default_handlers(val_data, event_handlers)
            return [h for h in handlers if not isinstance(h, estimators.LoggingHandler)]

    counter = Counter(priority=-1500)
    plain = make()
    handlers = plain._prepare_default_handlers(None, counter)
    kinds = [type(handler) for handler in handlers]
    assert kinds == [
        estimators.GradientUpdateHandler,
        Counter,
        estimators.MetricHandler,
        estimators.StoppingHandler,
        estimators.LoggingHandler,
    ]
    lists = plain._categorize_handlers(handlers)
    assert [counter in handlers for handlers in lists] == [True] * 6
    begin, _, _, batch_end, _, end = lists
    assert estimators.StoppingHandler in map(type, begin)
    assert estimators.GradientUpdateHandler in map(type, batch_end)
    assert estimators.MetricHandler not in map(type, end)
    evaluation = plain._prepare_default_validation_handlers(None)
    assert [type(h) for h in evaluation] == [estimators.MetricHandler, estimators.LoggingHandler]

    lines = []
    net = mx.gluon.nn.Dense(1)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    silent = Silent(net, LOSS, trainer=trainer)
    silent.logger.info = lambda text, *args: lines.append(text)
    silent.fit(loader(), epochs=1)
    assert lines == []


def test_batches_are_divided_among_contexts():
    one, two = make(), make(context=[mx.cpu(0), mx.cpu(1)])
    for estimator in (one, two):
        estimator.net(mx.nd.zeros((1, 3), ctx=estimator.context[0]))
        estimator.net.weight.set_data(mx.nd.ones((1, 3)))
        estimator.fit(loader(), epochs=2)
    assert two.device == [mx.cpu(0), mx.cpu(1)]
    for ctx in two.context:
        np.testing.assert_allclose(
            two.net.weight.data(ctx).asnumpy(), one.net.weight.data().asnumpy(), rtol=1e-5
        )


def test_other_network_loss_and_metrics_for_validation():
    estimator = make()
    shifted = mx.gluon.nn.HybridLambda(lambda F, x: estimator.net(x) * 0)
    other = Estimator(
        estimator.net,
        LOSS,
        train_metrics=mx.metric.MAE(),
        val_metrics=[mx.metric.MSE()],
        trainer=estimator.trainer,
        val_net=shifted,
        val_loss=mx.gluon.loss.L1Loss(),
    )
    data = loader()
    other.evaluate(data)
    expected = np.mean([(label.asnumpy() ** 2).mean() for _, label in data])
    assert other.val_metrics[0].get() == ("validation mse", pytest.approx(expected))


def test_processor_of_batches():
    class Doubled(estimators.BatchProcessor):
        def fit_batch(self, estimator, train_batch, batch_axis=0):
            data, label = train_batch
            return super().fit_batch(estimator, (data, 2 * label), batch_axis)

    made = make(batch_processor=Doubled())
    made.trainer.set_learning_rate(0.5)
    made.fit(loader(), epochs=40)
    np.testing.assert_allclose(made.net.weight.data().asnumpy(), [[2, 2, 2]], atol=0.05)
    with pytest.raises(ValueError, match="fit_batch is not there"):
        make(batch_processor=object())


def test_validation_has_its_own_period():
    estimator, times = make(), []
    handler = estimators.ValidationHandler(
        None, lambda **kwargs: times.append(kwargs), epoch_period=2, batch_period=5
    )
    estimator.fit(loader(), loader(), epochs=4, event_handlers=handler)
    assert len(times) == 2 + 2  # 4 epochs of 3 batches
    assert times[0] == {"val_data": None, "batch_axis": 0, "event_handlers": None}


def test_early_stopping():
    estimator = make()
    estimator.trainer.set_learning_rate(0)
    stopping = estimators.EarlyStoppingHandler(estimator.train_metrics[0], patience=2)
    counter = Counter()
    estimator.fit(loader(), epochs=9, event_handlers=[stopping, counter])
    assert counter.events.count("epoch_end") == 3
    assert stopping.stopped_epoch == 2
    stopping = estimators.EarlyStoppingHandler(estimator.train_metrics[0], baseline=-1, mode="min")
    estimator.fit(loader(), epochs=9, event_handlers=[stopping])
    assert stopping.current_epoch == 1


def test_improvement_direction_follows_the_metric_name():
    metrics = mx.metric.Accuracy(), mx.metric.Loss()
    for metric, better in zip(metrics, (0.6, 0.4), strict=True):
        handler = estimators.EarlyStoppingHandler(metric, min_delta=0.05)
        metric.sum_metric, metric.num_inst = 0.5, 1
        metric.global_sum_metric, metric.global_num_inst = 0.5, 1
        assert not handler.epoch_end(None)
        metric.sum_metric = better
        assert not handler.epoch_end(None)
        assert handler.best == better
        metric.sum_metric += 0.01 * (1 if better > 0.5 else -1)  # not enough
        assert handler.epoch_end(None)
    with pytest.warns(RuntimeWarning, match="mode up is unknown"):
        estimators.EarlyStoppingHandler(metrics[0], mode="up")
    with pytest.warns(RuntimeWarning, match="mae is not updated"):
        estimators.EarlyStoppingHandler(mx.metric.MAE()).epoch_end(None)


def test_checkpoints_go_on(tmp_path):
    straight, first, second = make(), make(), make()
    for estimator in (straight, first, second):
        estimator.net(mx.nd.zeros((1, 3)))
        estimator.net.weight.set_data(mx.nd.ones((1, 3)) / 2)

    def keeping(**options):
        return estimators.CheckpointHandler(str(tmp_path), "m", **options)

    straight.fit(loader(), epochs=4)
    first.fit(loader(), epochs=2, event_handlers=[keeping()])
    assert (tmp_path / "m-symbol.json").exists()
    second.fit(loader(), epochs=4, event_handlers=[keeping(resume_from_checkpoint=True)])
    np.testing.assert_array_equal(
        second.net.weight.data().asnumpy(), straight.net.weight.data().asnumpy()
    )
    with pytest.raises(ValueError, match="maximum number of epoch 4 reached"):
        make().fit(loader(), epochs=4, event_handlers=[keeping(resume_from_checkpoint=True)])
    with pytest.raises(AssertionError, match="same type of period"):
        make().fit(loader(), batches=4, event_handlers=[keeping(resume_from_checkpoint=True)])


def test_old_checkpoints_are_deleted(tmp_path):
    estimator = make()
    keeping = estimators.CheckpointHandler(
        str(tmp_path / "new"), epoch_period=None, batch_period=1, max_checkpoints=2
    )
    estimator.fit(loader(), batches=5, event_handlers=keeping)
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    ends = ("params", "states")
    kept = [f"model-epoch1batch{b}.{end}" for b in (3, 4) for end in ends]
    assert names == [*kept, "model-symbol.json"]


def test_bad_arguments():
    estimator = make()
    for problem, options in (
        ("net must be a Block", {"net": len}),
        ("loss must be a Loss", {"loss": len}),
        ("metrics must be a Metric", {"train_metrics": [len]}),
        ("Trainer must be a Gluon Trainer", {"trainer": "sgd"}),
        ("context must be a Context", {"context": "cpu"}),
    ):
        with pytest.raises(ValueError, match=problem):
            Estimator(
                **{"net": estimator.net, "loss": LOSS, "trainer": estimator.trainer, **options}
            )
    for problem, data, options in (
        ("only support input as Gluon DataLoader", [1], {"epochs": 1}),
        ("exactly one type of iteration", loader(), {}),
        ("exactly one type of iteration", loader(), {"epochs": 1, "batches": 1}),
        ("must be an EventHandler", loader(), {"epochs": 1, "event_handlers": [len]}),
        (
            "outside of the known training and validation metrics",
            loader(),
            {"epochs": 1, "event_handlers": estimators.MetricHandler([mx.metric.MAE()])},
        ),
    ):
        with pytest.raises(ValueError, match=problem):
            estimator.fit(data, **options)
    with pytest.raises(ValueError, match="log_interval must be"):
        estimators.LoggingHandler("batch")
    with pytest.raises(ValueError, match="one simple metric"):
        estimators.EarlyStoppingHandler(mx.metric.CompositeEvalMetric())
    with pytest.raises(ValueError, match="monitor must be one simple metric"):
        estimators.CheckpointHandler("unused", save_best=True)


def test_handlers_show_what_they_compare(tmp_path):
    mse = mx.metric.MSE()
    checkpoints = estimators.CheckpointHandler(str(tmp_path), monitor=mse, save_best=True)
    assert checkpoints.monitor_op is np.less and checkpoints.best == np.inf
    stopping = estimators.EarlyStoppingHandler(mx.metric.Accuracy(), baseline=0.5)
    assert stopping.monitor_op is np.greater and stopping.best == 0.5


def test_a_foreign_monitor_only_warns():
    handler = estimators.EarlyStoppingHandler(mx.metric.MSE())
    with pytest.warns(RuntimeWarning, match="mse is not updated"):
        make().fit(loader(), epochs=1, event_handlers=[handler])
    assert handler.stopped_epoch == 0


@pytest.mark.parametrize("release, saved", [("1.9", True), ("2.0", False)])
def test_symbols_in_checkpoints_without_hybridize(tmp_path, release, saved):
    before = mx.util.set_profile(release)
    try:
        checkpoints = estimators.CheckpointHandler(str(tmp_path), model_prefix="net")
        estimator = make()
        estimator.fit(loader(), epochs=1, event_handlers=[checkpoints])
        names = {path.name for path in tmp_path.iterdir()}
        assert names - {"net-symbol.json"} == {"net-epoch0batch3.params", "net-epoch0batch3.states"}
        assert ("net-symbol.json" in names) == saved
        expected = "l2loss" if saved else "L2Loss"
        assert estimator.train_metrics[-1].name == f"training {expected}"
    finally:
        mx.util.set_profile(before)
