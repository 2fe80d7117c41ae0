"""Newcomers' mistakes: errors name the argument, the expected value and a similar name."""

import re

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon, nd, sym


def classifier():
    return sym.SoftmaxOutput(
        sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="softmax"
    )


def module():
    one = mx.mod.Module(classifier())
    one.bind([("data", (2, 4))], [("softmax_label", (2,))])
    return one


def fitted(**options):
    one = mx.mod.Module(classifier(), **options.pop("module", {}))
    one.fit(mx.io.NDArrayIter(np.ones((4, 4)), np.ones(4), 2), num_epoch=1, **options)


def trained(**settings):
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize()
    gluon.Trainer(net.collect_params(), "sgd", settings)


def hybridized(**options):
    gluon.nn.HybridSequential().hybridize(**options)


def called(block, *shape):
    block.initialize()
    return block(nd.ones(shape))


VALUES = {"fc_weight": nd.ones((3, 5)), "fc_bias": nd.ones(3)}

#: what a program does -> the error's type, and a part of its text
MISTAKES = {
    "initializer of text": (
        lambda: fitted(initializer="xavier"),
        TypeError,
        "initializer: expected an Initializer such as mx.init.Xavier(), got 'xavier'",
    ),
    "more contexts than samples": (
        lambda: fitted(module={"context": [mx.cpu(i) for i in range(3)]}),
        ValueError,
        "2 samples cannot be shared by 3 contexts",
    ),
    "a parameter of another shape": (
        lambda: module().init_params(arg_params=VALUES),
        mx.MXNetError,
        "fc_weight: expected shape (3, 4) for the bound data, got (3, 5)",
    ),
    "a parameter of another shape, in an executor": (
        lambda: classifier().simple_bind(mx.cpu(), data=(2, 4)).copy_params_from(VALUES),
        mx.MXNetError,
        "fc_weight: expected shape (3, 4) here, got (3, 5)",
    ),
    "a missing parameter": (
        lambda: module().init_params(arg_params={"fc_bias": nd.ones(3)}),
        RuntimeError,
        "fc_weight is not presented: allow_missing=True",
    ),
    "too many arrays in a batch": (
        lambda: (
            (one := module()).init_params(),
            one.forward(mx.io.DataBatch([nd.ones((2, 4)), nd.ones(2)])),
        ),
        ValueError,
        "batch: expected 1 arrays (data), got 2",
    ),
    "an epoch of text": (
        lambda: mx.model.load_params("a", "1"),
        TypeError,
        "epoch: expected an integer, got '1'",
    ),
    "a model without parameters": (
        lambda: mx.model.FeedForward(classifier(), num_epoch=1).predict(np.ones((2, 4))),
        ValueError,
        "no parameters yet: call fit",
    ),
    "a misspelt input of simple_bind": (
        lambda: classifier().simple_bind(mx.cpu(), dat=(2, 4)),
        mx.MXNetError,
        "there is no argument 'dat'; did you mean 'data'?",
    ),
    "a misspelt input of an executor": (
        lambda: classifier().simple_bind(mx.cpu(), data=(2, 4)).forward(dta=nd.ones((2, 4))),
        TypeError,
        "Unknown argument dta; did you mean 'data'?",
    ),
    "a misspelt output": (
        lambda: classifier().get_internals()["fc_out"],
        ValueError,
        "did you mean 'fc_output'?",
    ),
    "an array among symbols": (
        lambda: sym.FullyConnected(nd.ones((2, 3)), num_hidden=3),
        AssertionError,
        "must be Symbol instances, but got NDArray of shape (2, 3)",
    ),
    "batches of nothing": (
        lambda: mx.io.NDArrayIter(np.ones((4, 3)), batch_size=0),
        ValueError,
        "batch_size must be a positive integer, got 0",
    ),
    "a misspelt option of an iterator": (
        lambda: mx.io.ImageRecordIter(path_imgrec="a", data_shpe=(3, 8, 8), batch_size=2),
        mx.MXNetError,
        "data_shape of Shape(tuple) is not presented, in ImageRecordIter (got data_shpe; did",
    ),
    "a shape without channels": (
        lambda: mx.image.CreateAugmenter((8, 8)),
        ValueError,
        "data_shape: expected (channel, height, width), got (8, 8)",
    ),
    "a misspelt option of hybridize": (
        lambda: hybridized(static_aloc=True),
        mx.MXNetError,
        "hybridize: unknown option 'static_aloc' without a backend; did you mean",
    ),
    "a negative number of units": (
        lambda: gluon.nn.Dense(-3, in_units=2).initialize(),
        AssertionError,
        "expected a shape of non-negative sizes, got (-3, 2)",
    ),
    "parameters on a device of PyTorch": (
        lambda: gluon.nn.Dense(3, in_units=2).initialize(ctx="cuda"),
        mx.MXNetError,
        "'cuda' is not a context; expected a string such as 'cpu(0)'",
    ),
    "a module on a device of PyTorch": (
        lambda: mx.mod.Module(classifier(), context="cuda"),
        mx.MXNetError,
        "'cuda' is not a context; expected a string such as 'cpu(0)'",
    ),
    "a layer without sizes": (
        lambda: gluon.nn.Conv2D(3),
        TypeError,
        "Conv2D.__init__() missing 1 required positional argument: 'kernel_size'",
    ),
    "parameters on a number": (
        lambda: gluon.nn.Dense(3, in_units=2).initialize(ctx=[mx.cpu(), 1]),
        TypeError,
        "a context must be a Context, a str or None, not int",
    ),
    "a capsule of a number": (
        lambda: nd.from_dlpack(3),
        TypeError,
        "from_dlpack: expected a capsule, got int",
    ),
    "a misspelt type of a variable": (
        lambda: classifier().infer_type(data="flaot32"),
        TypeError,
        "data type 'flaot32' not understood",
    ),
    "a rate of text": (
        lambda: trained(learning_rate="0.1"),
        TypeError,
        "learning_rate: expected a number, got '0.1'",
    ),
    "a misspelt last_batch": (
        lambda: gluon.data.DataLoader([1, 2], batch_size=1, last_batch="drop"),
        ValueError,
        "last_batch must be one of",
    ),
    "channels that are not there": (
        lambda: called(gluon.nn.BatchNorm(axis=3), 2, 3),
        IndexError,
        "BatchNorm: axis 3 is out of bounds for an input of shape (2, 3)",
    ),
    "a body with one result": (
        lambda: nd.contrib.foreach(lambda x, state: x, nd.ones((2, 3)), nd.ones(3)),
        ValueError,
        "foreach: body: expected it to return (output, states)",
    ),
    "a misspelt option of the profiler": (
        lambda: mx.profiler.set_config(profil_all=True),
        mx.MXNetError,
        "did you mean 'profile_all'?",
    ),
    "a misspelt activation": (
        lambda: nd.Activation(nd.ones(3), act_type="rleu"),
        mx.MXNetError,
        "'mish'; did you mean 'relu'?",
    ),
    "joined arrays of other extents": (
        lambda: nd.concat(nd.ones((2, 3)), nd.ones((4, 5)), dim=1),
        AssertionError,
        "argument data1: expected shape (2, -1), got (4, 5)",
    ),
    "a result of another shape": (
        lambda: nd.exp(nd.ones(3), out=nd.ones(4)),
        mx.MXNetError,
        "argument out: expected float32 of shape (3,), got float32 of shape (4,)",
    ),
    "batches of parts": (
        lambda: mx.io.NDArrayIter(np.ones((4, 3)), batch_size=2.5),
        ValueError,
        "batch_size must be a positive integer, got 2.5",
    ),
    "a file in place of a symbol": (
        lambda: mx.mod.Module("net-symbol.json"),
        TypeError,
        "expected a Symbol, got str; mx.sym.load reads one from a file",
    ),
    "an array in place of a batch": (
        lambda: ((one := module()).init_params(), one.forward(nd.ones((2, 4)))),
        TypeError,
        "batch: expected a DataBatch, such as mx.io.DataBatch([array]), got NDArray",
    ),
    "a shape in place of descriptions": (
        lambda: mx.mod.Module(sym.exp(sym.var("data")), label_names=None).bind((2, 4)),
        TypeError,
        "data_shapes: expected [(name, shape), ...], got (2, 4)",
    ),
    "arrays in place of an iterator": (
        lambda: mx.mod.Module(classifier()).fit(np.ones((4, 3)), num_epoch=1),
        TypeError,
        "train_data: expected a DataIter, such as mx.io.NDArrayIter(array), got ndarray",
    ),
    "nothing to prefetch": (
        lambda: mx.io.PrefetchingIter(np.ones(3)),
        TypeError,
        "PrefetchingIter: iters: expected a DataIter",
    ),
    "nothing to resize": (
        lambda: mx.io.ResizeIter(np.ones(3), 2),
        TypeError,
        "ResizeIter: data_iter: expected a DataIter",
    ),
    "a symbol in place of its function": (
        lambda: mx.mod.BucketingModule(lambda key: classifier(), default_bucket_key=1),
        TypeError,
        "a function that returns (symbol, data_names, label_names), but it returned <Symbol",
    ),
    "one symbol in place of several": (
        lambda: sym.Group(sym.var("x")),
        TypeError,
        "Expected a list of symbols as input, got one symbol",
    ),
    "one transform in place of several": (
        lambda: gluon.data.vision.transforms.Compose(gluon.data.vision.transforms.ToTensor()),
        TypeError,
        "Compose: expected a list of transforms, got ToTensor",
    ),
    "an unknown storage type": (
        lambda: nd.sparse.zeros("coo", (2, 3)),
        ValueError,
        "unknown storage type 'coo', choose one of 'default', 'csr', 'row_sparse'",
    ),
    "an unknown storage type of a variable": (
        lambda: sym.var("x", stype="sparse"),
        ValueError,
        "stype: expected one of 'default', 'row_sparse', 'csr', got 'sparse'",
    ),
    "two of three parts of a csr array": (
        lambda: nd.sparse.csr_matrix((np.ones(2), np.array([0, 1])), shape=(2, 3)),
        ValueError,
        "a tuple of two is (rows, columns) or (data, (row, column))",
    ),
    "a csr array with rows of another array": (
        lambda: nd.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2, 2]), shape=(2, 3)),
        ValueError,
        "indptr needs 3 elements for 2 rows, got 4",
    ),
    "a csr array of one dimension": (
        lambda: nd.sparse.zeros("csr", (3,)),
        ValueError,
        "shape of a csr array: expected (rows, columns), got (3,)",
    ),
    "a sparse array of lists": (
        lambda: nd.sparse.array([[1, 2], [3, 4]]),
        ValueError,
        "Unexpected source_array type: list; use csr_matrix or row_sparse_array",
    ),
    "extents as arguments": (
        lambda: nd.zeros(2, 3),
        TypeError,
        "not int; pass a shape as one tuple",
    ),
    "rows as arguments": (
        lambda: nd.array([1, 2], [3, 4]),
        TypeError,
        "not list; pass a shape as one tuple, rows as one nested list",
    ),
    "an image of NumPy": (
        lambda: mx.image.imresize(np.ones((4, 4, 3)), 2, 2),
        TypeError,
        "imresize: src: expected an NDArray, got ndarray",
    ),
    "a short header": (
        lambda: mx.recordio.pack((0, 1), b"x"),
        ValueError,
        "expected IRHeader(flag, label, id, id2), got (0, 1)",
    ),
    "an array in place of calibration batches": (
        lambda: mx.contrib.quantization.quantize_net(
            gluon.nn.Dense(2, in_units=3), calib_data=nd.ones((4, 3)), calib_mode="naive"
        ),
        ValueError,
        "calib_data: expected a DataLoader, a DataIter or a list of batches, got NDArray",
    ),
    "a block in place of a symbol for ONNX": (
        lambda: mx.onnx.export_model(gluon.nn.Dense(2), {}, [(1, 3)], ["float32"], "a.onnx"),
        ValueError,
        "got Dense as sym; block.export writes the files",
    ),
    "names in place of shapes for ONNX": (
        lambda: mx.onnx.export_model(sym.exp(sym.var("data")), {}, ["data"], ["float32"], "a.onnx"),
        ValueError,
        "in_shapes: expected shapes of integers, got ['data']",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.filterwarnings("ignore:.*ignores unknown parameters")
@pytest.mark.filterwarnings("ignore:mx.model.FeedForward has been deprecated")
def test_mistakes(mistake):
    act, kind, text = MISTAKES[mistake]
    with pytest.raises(kind, match=re.escape(text)):
        act()


def test_import_errors_name_the_input(tmp_path):
    one, prefix = module(), str(tmp_path / "net")
    one.init_params()
    one.save_checkpoint(prefix, 1)
    files = (f"{prefix}-symbol.json", f"{prefix}-0001.params")

    def imported(*names):
        return gluon.SymbolBlock.imports(files[0], list(names), files[1])

    with pytest.raises(AssertionError, match="The graph has no input 'dat'; did you mean 'data'"):
        imported("dat", "softmax_label")
    with pytest.raises(AssertionError, match="'softmax_label' is missing.* in input_names"):
        imported("data")
    assert imported("data", "softmax_label")(nd.ones((2, 4)), nd.ones(2)).shape == (2, 3)


def test_parameters_are_no_symbol(tmp_path):
    path = str(tmp_path / "a.params")
    nd.save(path, {"arg:a": nd.array([1e38, 3.14, -2.7])})
    with pytest.raises(mx.MXNetError, match="a symbol must be JSON text"):
        sym.load(path)


def test_records_are_bytes_and_have_keys(tmp_path):
    names = (str(tmp_path / "a.idx"), str(tmp_path / "a.rec"))
    file = mx.recordio.MXIndexedRecordIO(*names, "w")
    with pytest.raises(TypeError, match="a record of .* must be bytes: encode the string"):
        file.write("text")
    with pytest.raises(TypeError, match="a record of .* must be bytes, got int"):
        file.write(3)
    file.write_idx(0, b"bytes")
    file.close()
    file = mx.recordio.MXIndexedRecordIO(*names, "r")
    with pytest.raises(KeyError, match=r"a.idx has no key 5"):
        file.read_idx(5)
    assert file.read_idx(0) == b"bytes"
    file.close()


def test_metrics_take_numpy_arrays():
    metric = mx.metric.create("acc")
    metric.update(np.array([0, 1, 1]), np.array([[2.0, 1], [1, 2], [3, 1]]))
    assert metric.get()[1] == pytest.approx(2 / 3)
