"""FeedForward, the oldest interface."""

import pickle

import numpy as np
import pytest

import mxcy as mx

DRAW = np.random.RandomState(0)
DATA = DRAW.randn(40, 5).astype("float32")
LABEL = (DATA @ DRAW.randn(5, 3)).argmax(axis=1)

pytestmark = pytest.mark.filterwarnings("ignore:mx.model.FeedForward:DeprecationWarning")


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def trained(**kwargs):
    mx.random.seed(2)
    np.random.seed(2)
    model = mx.model.FeedForward(
        network(),
        num_epoch=6,
        initializer=mx.init.Xavier(),
        numpy_batch_size=16,
        learning_rate=0.5,
        momentum=0.9,
        **kwargs,
    )
    model.fit(DATA, LABEL, eval_data=(DATA, LABEL))
    return model


def batches(size=16):
    return mx.io.NDArrayIter(DATA, LABEL, size)


def test_it_is_deprecated():
    with pytest.warns(DeprecationWarning, match="FeedForward has been deprecated"):
        mx.model.FeedForward(network())


@pytest.mark.parametrize("devices", [1, 2])
def test_it_learns(devices):
    model = trained(ctx=[mx.cpu(i) for i in range(devices)])
    assert model.score(batches()) > 0.9
    assert model.predict(DATA).shape == (40, 3)
    assert (model.predict(batches()).argmax(axis=1) == LABEL).mean() > 0.9


def test_results_of_predict():
    model = trained()
    outputs, data, label = model.predict(batches(), return_data=True)
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(label, LABEL)
    np.testing.assert_allclose(outputs, model.predict(DATA), atol=1e-6)
    assert model.predict(batches(), num_batch=2).shape == (32, 3)


def test_files_and_pickles(tmp_path):
    model, prefix = trained(), str(tmp_path / "net")
    model.save(prefix)
    again = mx.model.FeedForward.load(prefix, 6)
    assert again.begin_epoch == 6
    for other in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(other.predict(DATA), model.predict(DATA), atol=1e-6)
    with pytest.raises(AssertionError, match="epoch must be given"):
        mx.model.FeedForward(network()).save(prefix)


def test_create_with_epochs_of_some_batches():
    seen = []
    model = mx.model.FeedForward.create(
        network(),
        batches(10),
        num_epoch=2,
        epoch_size=3,
        batch_end_callback=lambda param: seen.append(param.nbatch),
    )
    assert seen == [0, 1, 2] * 2 and model.arg_params["fc_weight"].shape == (3, 5)


def test_extra_parameters():
    extra = {**trained().arg_params, "other": mx.nd.zeros(1)}
    model = mx.model.FeedForward(
        network(), arg_params=extra, aux_params={}, allow_extra_params=True
    )
    assert sorted(model.arg_params) == ["fc_bias", "fc_weight"]


class Buckets(mx.io.NDArrayIter):
    """Batches with a bucket key."""

    default_bucket_key = "only"

    def next(self):
        batch = super().next()
        batch.bucket_key = "only"
        batch.provide_data, batch.provide_label = self.provide_data, self.provide_label
        return batch


def test_a_network_per_bucket():
    asked = []

    def sym_gen(key):
        asked.append(key)
        return network()

    model = mx.model.FeedForward(sym_gen, num_epoch=3, learning_rate=1.0)
    assert model.symbol is None
    model.fit(Buckets(DATA, LABEL, 10))
    assert set(asked) == {"only"}
    assert model.score(batches()) > 0.6


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((DATA,), ValueError, "y must be specified"),
        ((5,), TypeError, "X must be DataIter"),
        ((DATA, [1]), TypeError, "y must be ndarray"),
        ((DATA, LABEL[:3]), ValueError, "data points and labels not equal"),
        ((DATA, np.ones((40, 2))), ValueError, "Label must be 1D"),
        ((DATA, LABEL, 3), TypeError, "Eval data must be DataIter"),
        ((DATA, LABEL, (None, None)), ValueError, "Eval data is NONE"),
    ],
)
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=message):
        mx.model.FeedForward(network(), num_epoch=1).fit(*arguments)
