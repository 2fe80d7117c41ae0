"""print_summary and plot_network."""

import sys
import types
from xml.etree import ElementTree

import pytest

import mxcy as mx

S = mx.sym


def network():
    out = S.Convolution(S.var("data"), kernel=(3, 3), num_filter=8, name="conv", pad=(1, 1))
    out = S.Activation(S.BatchNorm(out, name="bn"), act_type="relu", name="relu")
    pool = S.Pooling(out, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    out = S.Flatten(S.elemwise_add(pool, pool, name="add"), name="flat")
    return S.SoftmaxOutput(S.FullyConnected(out, num_hidden=10, name="fc"), name="softmax")


def rows(capsys):
    """The printed rows without the rules between them, as lists of their cells."""
    lines = capsys.readouterr().out.splitlines()
    return [line.split() for line in lines if line.strip("_=")]


def test_summary(capsys):
    mx.viz.print_summary(network(), shape={"data": (1, 3, 8, 8)})
    assert rows(capsys) == [
        ["Layer", "(type)", "Output", "Shape", "Param", "#", "Previous", "Layer"],
        ["data(null)", "3x8x8", "0"],
        ["conv(Convolution)", "8x8x8", "224", "data"],
        ["bn(BatchNorm)", "8x8x8", "16", "conv"],
        ["relu(Activation)", "8x8x8", "0", "bn"],
        ["pool(Pooling)", "8x4x4", "0", "relu"],
        ["add(elemwise_add)", "8x4x4", "0", "pool"],
        ["pool"],
        ["flat(Flatten)", "128", "0", "add"],
        ["fc(FullyConnected)", "10", "1290", "flat"],
        ["softmax(SoftmaxOutput)", "10", "0", "fc"],
        ["Total", "params:", "1530"],
    ]


def test_summary_without_shapes(capsys):
    mx.viz.print_summary(network(), line_length=80, positions=[30, 50, 60, 80])
    actual = rows(capsys)
    assert actual[2] == ["conv(Convolution)", "8", "data"] and actual[-1][-1] == "18"


def flops(symbol, capsys, **shapes):
    mx.viz.print_summary(symbol, shape=shapes, flops=True)
    total, memory = capsys.readouterr().out.splitlines()[-3:-1]
    assert total.startswith("Total FLOPs: ") and memory.startswith("Memory of outputs: ")
    return int(total.split()[2]), int(memory.split()[3])


def test_operations_and_memory(capsys):
    x, y = S.var("x"), S.var("y")
    conv = S.Convolution(x, kernel=(3, 3), num_filter=8, num_group=2, pad=(1, 1), no_bias=True)
    assert flops(conv, capsys, x=(2, 4, 5, 5)) == (2 * 400 * 2 * 9, 1600)
    back = S.Deconvolution(x, kernel=(2, 2), stride=(2, 2), num_filter=3, no_bias=True)
    assert flops(back, capsys, x=(1, 4, 5, 5)) == (2 * 100 * 3 * 4, 4 * 300)
    dense = S.FullyConnected(x, num_hidden=10)
    assert flops(dense, capsys, x=(2, 6)) == (2 * 20 * 6 + 20, 80)
    assert flops(S.dot(x, y, transpose_b=True), capsys, x=(3, 5), y=(7, 5)) == (2 * 105, 84)
    assert flops(S.batch_dot(x, y), capsys, x=(4, 3, 5), y=(4, 5, 7)) == (2 * 4 * 105, 336)
    pool = S.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg")
    assert flops(pool, capsys, x=(1, 2, 4, 4)) == (8 * 4, 32)
    everywhere = S.Pooling(x, global_pool=True, pool_type="avg")
    assert flops(everywhere, capsys, x=(1, 2, 4, 4)) == (2 * 16, 8)
    assert flops(S.Flatten(S.exp(x)), capsys, x=(2, 3, 4)) == (24, 192)
    with pytest.raises(ValueError, match="requires shape"):
        mx.viz.print_summary(dense, flops=True)


def test_operations_of_a_known_network(capsys):
    net = mx.gluon.model_zoo.vision.get_model("resnet50_v1")
    total, _ = flops(net(S.var("data")), capsys, data=(1, 3, 224, 224))
    assert 7.5e9 < total < 8.5e9  # the paper reports 3.8e9 multiply-adds


def test_summary_refuses():
    with pytest.raises(TypeError, match="Symbol"):
        mx.viz.print_summary(3)
    with pytest.raises(ValueError, match="incomplete"):
        mx.viz.print_summary(network(), shape={"data": (0, 3, 8, 8)})


class Digraph:
    """Records what would be passed to graphviz.Digraph."""

    def __init__(self, name, format):
        self.name, self.format, self.nodes, self.edges = name, format, {}, []

    def node(self, name, label, **style):
        self.nodes[name] = (label, style)

    def edge(self, tail_name, head_name, label, **style):
        self.edges.append((tail_name, head_name, label))


@pytest.fixture
def graphviz(monkeypatch):
    module = types.ModuleType("graphviz")
    module.Digraph = Digraph
    monkeypatch.setitem(sys.modules, "graphviz", module)


def test_drawing(graphviz):
    drawing = mx.viz.plot_network(
        network(), title="t", save_format="svg", shape={"data": (1, 3, 8, 8)}
    )
    assert (drawing.name, drawing.format) == ("t", "svg")
    assert {name: label for name, (label, _) in drawing.nodes.items()} == {
        "data": "data",
        "conv": "Convolution\n3x3/1, 8",
        "bn": "bn",
        "relu": "Activation\nrelu",
        "pool": "Pooling\nmax, 2x2/2x2",
        "add": "add",
        "flat": "flat",
        "fc": "FullyConnected\n10",
        "softmax_label": "softmax_label",
        "softmax": "softmax",
    }
    assert drawing.nodes["data"][1] == {
        "shape": "oval",
        "fixedsize": "true",
        "width": "1.3",
        "height": "0.8034",
        "style": "filled",
        "fillcolor": "#8dd3c7",
    }
    kinds = ("conv", "relu", "bn", "pool", "flat", "add")
    assert [drawing.nodes[name][1]["fillcolor"] for name in kinds] == [
        "#fb8072",
        "#ffffb3",
        "#bebada",
        "#80b1d3",
        "#fdb462",
        "#fccde5",
    ]
    assert drawing.edges == [
        ("conv", "data", "3x8x8"),
        ("bn", "conv", "8x8x8"),
        ("relu", "bn", "8x8x8"),
        ("pool", "relu", "8x8x8"),
        ("add", "pool", "8x4x4"),
        ("add", "pool", "8x4x4"),
        ("flat", "add", "8x4x4"),
        ("fc", "flat", "128"),
        ("softmax", "fc", "10"),
        ("softmax", "softmax_label", ""),
    ]


def test_drawing_options(graphviz):
    symbol = S.FullyConnected(S.var("x"), num_hidden=2, name="fc")
    drawing = mx.viz.plot_network(
        symbol, dtype={"x": "float16"}, hide_weights=False, node_attrs={"width": "2"}
    )
    assert drawing.edges == [
        ("fc", "x", "(float16)"),
        ("fc", "fc_weight", "(float16)"),
        ("fc", "fc_bias", "(float16)"),
    ]
    assert drawing.nodes["x"][1]["width"] == "2"
    with pytest.warns(RuntimeWarning, match="Repeated names: x"):
        mx.viz.plot_network(S.var("x") + S.var("x"))
    with pytest.raises(ValueError, match="incomplete"):
        mx.viz.plot_network(symbol, dtype={})
    with pytest.raises(TypeError):
        mx.viz.plot_network(3)


@pytest.fixture
def no_graphviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)


SVG = "{http://www.w3.org/2000/svg}"


def boxes(text):
    """{name: (left, top, right, bottom)} of a drawing's boxes."""
    root, actual = ElementTree.fromstring(text), {}
    for group in root.iter(f"{SVG}g"):
        shape = {k: float(v) for k, v in group[1].items() if k != "fill"}
        if group[1].tag == f"{SVG}ellipse":
            x, y, rx, ry = (shape[k] for k in ("cx", "cy", "rx", "ry"))
            actual[group[0].text] = (x - rx, y - ry, x + rx, y + ry)
        else:
            x, y = shape["x"], shape["y"]
            actual[group[0].text] = (x, y, x + shape["width"], y + shape["height"])
    return root, actual


def test_drawing_without_graphviz(no_graphviz, tmp_path):
    shape = {"data": (1, 3, 8, 8)}
    drawing = mx.viz.plot_network(network(), title="a<b", save_format="svg", shape=shape)
    path = drawing.render(str(tmp_path / "net"))
    assert path == str(tmp_path / "net.svg")
    root, drawn = boxes((tmp_path / "net.svg").read_text(encoding="utf-8"))
    assert root[0].text == "a<b"
    chain = ["softmax", "fc", "flat", "add", "pool", "relu", "bn", "conv", "data"]
    assert set(drawn) == {*chain, "softmax_label"}
    assert sorted(chain, key=lambda name: drawn[name][1]) == chain  # results above their inputs
    assert len(root.findall(f"{SVG}path")) == 10
    assert "8x4x4" in drawing.svg() and drawing._repr_svg_() == drawing.svg()


@pytest.mark.parametrize("name", ["squeezenet1.0", "inceptionv3", "densenet121"])
def test_boxes_of_a_drawing_lie_apart(no_graphviz, name):
    net = mx.gluon.model_zoo.vision.get_model(name)
    root, drawn = boxes(mx.viz.plot_network(net(S.var("data")), save_format="svg").svg())
    rows = {}
    for left, top, right, _ in drawn.values():
        rows.setdefault(top, []).append((left, right))
    assert len(drawn) > 60
    for row in rows.values():
        row.sort()
        assert all(b[0] >= a[1] for a, b in zip(row, row[1:], strict=False))
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(0 <= x and r <= width and 0 <= y and b <= height for x, y, r, b in drawn.values())


def test_other_formats_need_graphviz(no_graphviz, tmp_path):
    drawing = mx.viz.plot_network(network())
    with pytest.raises(ImportError, match="pip install graphviz"):
        drawing.render(str(tmp_path / "net"))


def test_drawing_of_repeated_names(no_graphviz):
    with pytest.warns(RuntimeWarning, match="Repeated names: x"):
        drawing = mx.viz.plot_network(S.var("x") + S.var("x"), save_format="svg")
    assert len(boxes(drawing.svg())[1]) == 2
