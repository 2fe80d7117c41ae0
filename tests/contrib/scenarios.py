"""Scenarios for `mx.contrib` with fixed seeds, for any package with MXNet 1.x's interface.

`tests/data/make_contrib_golden.py` stores real MXNet's results; `test_golden.py` runs mxcy.
"""

import collections
import os
import tempfile
import warnings

import numpy as np


def reduced_variance(mx, devices, kvstore, update_freq, batch_size):
    """Losses and weights of a regression by SVRGModule.

    On several devices weights start at 0, since MXNet would compute the first gradients there.
    """
    from importlib import import_module

    svrg = import_module(f"{mx.__name__}.contrib.svrg_optimization.svrg_module")
    mx.random.seed(5)
    np.random.seed(5)
    draw = np.random.RandomState(0)
    data = draw.randn(30, 4).astype("float32")
    label = data @ np.array([1.0, -2.0, 0.5, 3.0], "float32")
    batches = mx.io.NDArrayIter(data, label, batch_size, shuffle=True, label_name="lin_label")
    output = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    output = mx.sym.LinearRegressionOutput(output, mx.sym.var("lin_label"), name="lin")
    mod = svrg.SVRGModule(
        output,
        label_names=["lin_label"],
        update_freq=update_freq,
        context=[mx.cpu(i) for i in range(devices)],
    )
    losses = []
    mod.fit(
        batches,
        eval_metric="mse",
        kvstore=kvstore,
        num_epoch=5,
        optimizer_params={"learning_rate": 0.05},
        initializer=mx.init.Uniform(0.1) if devices == 1 else mx.init.Zero(),
        batch_end_callback=lambda param: losses.append(float(param.eval_metric.get()[1])),
    )
    weights, _ = mod.get_params()
    return [losses, weights["fc_weight"].asnumpy().ravel().tolist()]


def embeddings(mx):
    """Vectors from a file, looked up, changed, and put together for a vocabulary."""
    text = mx.contrib.text
    counter = text.utils.count_tokens_from_str("a b b C\nnew  C a a\n", to_lower=False)
    vocab = text.vocab.Vocabulary(counter, most_freq_count=3, min_freq=1, reserved_tokens=["<p>"])
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = os.path.join(folder, "vectors.txt")
        with open(path, "w") as file:
            file.write("4 3\na 1 2 3\n<unk> 7 7 7\nb 4 5 6\na 9 9 9\nc 0.5 0.25 0\n")
        plain = text.embedding.CustomEmbedding(path)
        whole = text.embedding.CustomEmbedding(path, vocabulary=vocab)
    plain.update_token_vectors(["b", "<unk>"], mx.nd.array([[1, 1, 1], [2, 2, 2]]))
    both = text.embedding.CompositeEmbedding(vocab, [plain, whole])
    return {
        "counter": dict(counter),
        "vocab": [vocab.idx_to_token, vocab.to_indices(["C", "?", "b"]), vocab.to_tokens([1, 2])],
        "plain": [plain.idx_to_token, plain.idx_to_vec.asnumpy().tolist()],
        "whole": [whole.idx_to_token, whole.idx_to_vec.asnumpy().tolist()],
        "both": [both.vec_len, both.idx_to_vec.asnumpy().tolist()],
        "found": plain.get_vecs_by_tokens(["C", "z"], lower_case_backup=True).asnumpy().tolist(),
        "equal": text.vocab.Vocabulary(collections.Counter("bcacab"), min_freq=2).idx_to_token,
        "files": [
            [len(text.embedding.get_pretrained_file_names(n)) for n in ("glove", "fasttext")],
            text.embedding.get_pretrained_file_names("glove")[0],
        ],
    }


def gradients(mx):
    """The first interface of automatic differentiation."""
    x, y = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    grads, loss = mx.contrib.autograd.grad_and_loss(lambda x, y: x * x * y)(x, y)
    only = mx.contrib.autograd.grad(lambda x, y: x.exp() * y, argnum=[1])(x, y)
    return [[g.asnumpy().tolist() for g in grads + only], loss.asnumpy().tolist()]


SCENARIOS = {
    "svrg": lambda mx: reduced_variance(mx, 1, "local", 2, 10),
    "svrg with a rest": lambda mx: reduced_variance(mx, 1, None, 1, 8),
    "svrg on two devices": lambda mx: reduced_variance(mx, 2, "local", 2, 10),
    "embeddings": embeddings,
    "gradients": gradients,
}
