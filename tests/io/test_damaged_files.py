"""Damaged files raise an MXNetError that names the file and what was expected."""

import gzip
import json
import struct

import numpy as np
import pytest

import mxcy as mx


def damaged(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return str(path)


def read(batches):
    for batch in batches:
        batch.data[0].asnumpy()


def csv(path, folder):
    read(mx.io.CSVIter(path, (3,), batch_size=1))


def integers(path, folder):
    read(mx.io.CSVIter(path, (1,), batch_size=1, dtype="int32"))


def libsvm(path, folder):
    read(mx.io.LibSVMIter(data_libsvm=path, data_shape=(3,), batch_size=1))


def mnist(path, folder):
    labels = damaged(folder, "labels", struct.pack(">2I", 0x801, 1) + b"\0")
    read(mx.io.MNISTIter(image=path, label=labels, batch_size=1))


def embedding(path, folder):
    mx.contrib.text.embedding.CustomEmbedding(path)


def image_list(path, folder):
    mx.gluon.data.vision.ImageListDataset(str(folder), path)[0]


def image_iter(path, folder):
    read(mx.image.ImageIter(1, (3, 4, 4), path_imglist=path, path_root=str(folder)))


def index(path, folder):
    with_records = damaged(folder, "a.rec", b"")
    reader = mx.recordio.MXIndexedRecordIO(path, with_records, "r")
    reader.read_idx(reader.keys[0])


def index_of_images(path, folder):
    records = damaged(folder, "a.rec", b"")
    read(
        mx.io.ImageRecordIter(
            path_imgrec=records, path_imgidx=path, data_shape=(3, 4, 4), batch_size=1
        )
    )


def images(path, folder):
    read(mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 4, 4), batch_size=1))


def labels(path, folder):
    records = damaged(folder, "a.rec", b"")
    read(
        mx.io.ImageRecordIter(
            path_imgrec=records, path_imglist=path, data_shape=(3, 4, 4), batch_size=1
        )
    )


def symbol(path, folder):
    mx.sym.load(path)


def parameters(path, folder):
    mx.nd.load(path)


def library(path, folder):
    mx.library.load(path, verbose=False)


HEAD = struct.pack(">3I", 0x803, 2**31, 2**31)


@pytest.mark.parametrize(
    "reader, content, expected",
    [
        (csv, b"1,2\n", "row-length=2"),
        (csv, b"1,\xff,2\n", "not a table of"),
        (integers, b"99999999999999999999\n", "not a table of int32"),
        (libsvm, b"1 0:1 \xff:2\n", "line 1 of .* is not a label and column:value pairs"),
        (
            libsvm,
            b"1 99999999999999999999:2\n",
            "has column 1e.20, expected an integer from 0 to 2",
        ),
        (libsvm, b"1 -1:2\n", "has column -1"),
        (libsvm, b"9" * 100_000 + b"x\n", "line 1 of .* is not a label and column:value pairs"),
        (mnist, b"", "not a file of bytes in 3 dimensions"),
        (mnist, HEAD + struct.pack(">I", 2**31), "ends before the last"),
        (mnist, b"\0\0\x08\x03" + bytes(4) + b"\xff" * 8, "larger than any array"),
        (mnist, gzip.compress(HEAD, mtime=0)[:-9], "cannot read"),
        (embedding, b"the 1 x\n", "line 1: could not convert"),
        (embedding, b"the 1 2\nof 1 2 3\n", "line 2: a vector of 3 elements"),
        (embedding, b"<unk> 1 2 3\nthe 1 2\n", "the vector of <unk> has 3 elements"),
        (embedding, b"the 1 \xff\n", "expected text in utf8"),
        (image_list, b"0\t1\tx.png\xff\n", "expected text in utf-8"),
        (image_list, b"0\tx\tx.png\n", "line 1 of .* is not a tab-separated number"),
        (image_list, b"0\t1\tx\0.png\n", "cannot contain a null byte"),
        (image_iter, b"0\t1\tx.png\xff\n", "expected text in utf-8"),
        (image_iter, b"x\t1\tx.png\n", "line 1 of .* is not a tab-separated number"),
        (image_iter, b"0\t1\tx\0.png\n", "cannot contain a null byte"),
        (index, b"0\t-8\n", "line 1 of .* is not key and offset"),
        (index, b"0\t99999999999999999999\n", "line 1 of .* is not key and offset"),
        (index, b"0\t4\xff\n", "expected text in utf-8"),
        (index, b"0\t8\n", "a.rec ends before the offset of 0"),
        (index_of_images, b"0\t-8\n", "line 1 of the index .* is not key and offset"),
        (index_of_images, b"0\xff\t8\n", "expected text in utf-8"),
        (index_of_images, b"0\t8\n", "a.rec ends before the offset 8"),
        (images, b"junk" * 20, "damaged.file has no records: it is not a RecordIO file"),
        (labels, b"0\t1\tx\xff\n", "expected text in utf-8"),
        (labels, b"0\tx\tx\n", "not a number, labels and path"),
        (symbol, b"[" * 100_000, "too deep|recursion|JSON"),
        (symbol, b'{"nodes": ' * 50_000, "too deep|recursion|JSON"),
        (symbol, b"\xff\xfe", "a symbol must be JSON text"),
        (symbol, b"{}", "JSON"),
        (symbol, b'{"nodes": [], "arg_nodes": [], "heads": [[0, 0, 0]]}', "JSON"),
        (parameters, b"\x12\x01\0\0\0\0\0\0", "needs 8 bytes"),
        (parameters, struct.pack("<3Q", 0x112, 0, 2**60), "arrays do not fit in 0 bytes"),
    ],
)
def test_errors_name_the_file(tmp_path, reader, content, expected):
    path = damaged(tmp_path, "damaged.file", content)
    with pytest.raises(mx.MXNetError, match=expected) as error:
        reader(path, tmp_path)
        pytest.fail("nothing was raised")
    assert any(name in str(error.value) for name in ("damaged.file", "x\\x00", "a.rec"))


def test_libraries(tmp_path):
    path = damaged(tmp_path, "operators.so", b"#!/bin/sh\n")
    with pytest.raises(mx.MXNetError, match="operators.so"):
        library(path, tmp_path)


def chain(*inputs_of_nodes):
    """The JSON of a graph whose nodes have these inputs."""
    nodes = [{"op": "null", "name": "x", "inputs": []}]
    nodes += [
        {"op": "relu", "name": f"y{i}", "inputs": inputs}
        for i, inputs in enumerate(inputs_of_nodes)
    ]
    return json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[len(nodes) - 1, 0, 0]]})


@pytest.mark.parametrize(
    "inputs",
    [[[1, 0, 0]], [[2, 0, 0]], [[-1, 0, 0]], [[0, 7, 0]], [["0", 0, 0]], [0], [[0]], [{}], None, 5],
)
def test_inputs_of_nodes_that_lead_nowhere(inputs):
    with pytest.raises(mx.MXNetError, match="JSON|relu|y0|input"):
        mx.sym.load_json(chain(inputs))


def test_long_chains_of_nodes():
    symbol = mx.sym.load_json(chain(*([[i, 0, 0]] for i in range(20_000))))
    assert len(symbol.get_internals()) == 20_001
    assert mx.sym.load_json(symbol.tojson()).list_arguments() == ["x"]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["graphs"][0]["params"].update({"dense0_weight": "7.weight"}),
        lambda content: content["graphs"][0].pop("symbol"),
        lambda content: content["graphs"][0].update(out_format=[0, 0]),
        lambda content: content["graphs"][0].update(inputs=5),
        lambda content: content.update(graphs=7),
        lambda content: content.pop("flags"),
        lambda content: content.update(children=None),
    ],
)
def test_saved_models(tmp_path, change):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(2, in_units=2))
    net.initialize()
    net.hybridize()
    before = net(mx.nd.ones((1, 2))).asnumpy()
    net.save(str(tmp_path / "net"))
    path = tmp_path / "net-model.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(mx.MXNetError, match="net-model.json"):
        net.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(net(mx.nd.ones((1, 2))).asnumpy(), before)
