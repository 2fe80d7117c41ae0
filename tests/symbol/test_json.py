"""Symbols as JSON: MXNet's exact bytes, old versions, and invalid files."""

import json
import random
import warnings
from pathlib import Path

import pytest

import mxcy as mx
from mxcy.base import MXNetError

S = mx.sym
FILES = Path(__file__).parents[1] / "data" / "symbols"


def text_of(name):
    return (FILES / f"{name}.json").read_text()


def network():
    """The symbol of net_19.json."""
    with mx.name.NameManager():
        data = S.var("data", shape=(0, 3, 8, 8), lr_mult=2.0)
        out = S.BatchNorm(
            S.Convolution(data, kernel=(3, 3), num_filter=4, name="conv0"), name="bn0"
        )
        out = S.FullyConnected(S.flatten(out), num_hidden=2, name="fc")
        return S.SoftmaxOutput(out, name="softmax")


def without_versions(text):
    """The content without input versions, which old files count differently."""
    content = json.loads(text)
    for node in content["nodes"]:
        node["inputs"] = [entry[:2] for entry in node["inputs"]]
    return content


def test_written_byte_by_byte_as_the_original_does(tmp_path):
    path = str(tmp_path / "x.json")
    network().save(path)
    assert Path(path).read_text() == text_of("net_19")
    assert S.load(path).tojson() == text_of("net_19")


@pytest.mark.parametrize("name", ["net_19", "lenet_19", "old_08_upgraded"])
def test_read_and_written_again(name):
    text = text_of(name)
    again = S.load_json(text).tojson()
    if name.startswith("old"):
        assert without_versions(again) == without_versions(text)
    else:
        assert again == text


@pytest.mark.parametrize("name", ["net_20", "dense_20"])
def test_files_of_the_second_version(name):
    symbol = S.fromjson(text_of(name))
    ours, theirs = json.loads(symbol.tojson()), json.loads(text_of(name))
    assert (ours.pop("attrs"), theirs.pop("attrs")["mxnet_version"]) == (
        {"mxnet_version": ["int", 10901]},
        ["int", 20000],
    )
    assert ours["nodes"] == theirs["nodes"] and ours["heads"] == theirs["heads"]


@pytest.mark.parametrize("name", ["old_08", "old_0903"])
def test_old_files_are_upgraded_as_the_original_does(name):
    symbol = S.load_json(text_of(name))
    assert without_versions(symbol.tojson()) == without_versions(text_of(f"{name}_upgraded"))
    assert symbol.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert symbol.attr_dict()["conv_weight"]["wd_mult"] == "0.5"
    assert symbol.infer_shape(data=(2, 3, 8, 8))[1] == [(2, 10), (1,)]


def test_suffix_keys_without_their_variable_are_ignored():
    content = json.loads(text_of("old_08"))
    content["nodes"][3]["attr"] = {"nothing_lr_mult": "2"}
    with pytest.warns(UserWarning, match="nothing_lr_mult"):
        symbol = S.load_json(json.dumps(content))
    assert "nothing_lr_mult" not in symbol.attr_dict()["conv"]


def test_newer_versions_are_read_with_a_warning():
    text = text_of("net_19").replace("10901", "30100")
    with pytest.warns(UserWarning, match="30100"):
        assert S.load_json(text).list_outputs() == ["softmax_output"]


def test_text_and_layout():
    odd = S.var('q"\n\\é\t/', attr={"a": '\r"'})
    text = odd.tojson()
    assert '"name": "q\\"\\n\\\\é\\t/"' in text and '"attrs": {"a": "\\r\\""}' in text
    assert S.load_json(text).list_attr() == {"a": '\r"'}
    with mx.np_shape():
        assert '"is_np_shape": ["int", 1]' in odd.tojson()
    wide = S.Concat(*[S.var(f"v{i}") for i in range(12)]).tojson()
    assert '"inputs": [\n        [0, 0, 0], \n        [1, 0, 0], \n' in wide


def test_precision_casts_are_left_out():
    fc = S.FullyConnected(S.var("a"), num_hidden=1, name="fc")
    two = S.amp_multicast(fc, S.var("b"), num_outputs=2)
    whole = 1 + S.amp_cast(fc, dtype="float16") + two[1]
    names = [node["op"] for node in json.loads(whole.tojson())["nodes"]]
    assert "amp_cast" not in names and "amp_multicast" not in names
    assert S.load_json(whole.tojson()).list_arguments() == whole.list_arguments()
    kept = [node["op"] for node in json.loads(whole.tojson(remove_amp_cast=False))["nodes"]]
    assert "amp_cast" in kept and "amp_multicast" in kept


def test_shared_states_count_their_writes():
    mean, var = S.var("mean"), S.var("var")
    first = S.BatchNorm(S.var("a"), moving_mean=mean, moving_var=var, name="first")
    second = S.BatchNorm(first, moving_mean=mean, moving_var=var, name="second")
    nodes = {node["name"]: node for node in json.loads(second.tojson())["nodes"]}
    assert [entry[2] for entry in nodes["first"]["inputs"]] == [0, 0, 0, 1, 1]
    assert [entry[2] for entry in nodes["second"]["inputs"]] == [0, 0, 0, 2, 2]


def broken(change):
    content = json.loads(text_of("net_19"))
    change(content)
    return json.dumps(content)


def set_in(node, **fields):
    return broken(lambda content: content["nodes"][node].update(fields))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "cannot read"),
        ("[1]", "object"),
        ("{}", "'nodes' is missing"),
        ('{"nodes": [], "heads": []}', "heads are missing"),
        (set_in(3, op="NoSuchOperator"), "Failed loading Op conv0 of type NoSuchOperator"),
        (set_in(3, op=3), "'op'"),
        (set_in(3, name=None), "'name'"),
        (set_in(3, inputs=[[99, 0, 0]]), "99"),
        (set_in(3, inputs=[[3, 0, 0]]), "entry"),
        (set_in(3, inputs=[[0, 7, 0]]), "output 7"),
        (set_in(3, inputs=[[0, -1, 0]]), "entry"),
        (set_in(3, inputs=[[0, 0, 0]]), "expected data, weight, bias"),
        (set_in(3, inputs=[[True, 0, 0]]), "entry"),
        (set_in(3, attrs={"kernel": "(3, 3"}), "kernel"),
        (set_in(3, attrs={"kernel": 3}), "not text"),
        (set_in(0, inputs=[[0, 0, 0]]), "entry"),
        (set_in(3, attrs={"kernel": "-" * 200000 + "1", "num_filter": "4"}), "kernel"),
        (set_in(9, op="SliceChannel", attrs={"num_outputs": str(10**12)}), "num_outputs"),
        (set_in(9, op="SliceChannel", attrs={"num_outputs": "0"}), "num_outputs"),
        (broken(lambda content: content.update(heads=[[14, 3, 0]])), "output 3"),
        (broken(lambda content: content.update(attrs={"mxnet_version": "x"})), "mxnet_version"),
        ("[" * 100000, "cannot read"),
    ],
)
def test_invalid_json_is_refused(text, message):
    with pytest.raises(MXNetError, match=message):
        S.load_json(text)


def test_files_that_cannot_be_read(tmp_path):
    for bad in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(MXNetError, match="Open"):
            S.load(str(bad))
    (tmp_path / "x.json").write_bytes(b"\xff\xfe")
    with pytest.raises(MXNetError):
        S.load(str(tmp_path / "x.json"))
    with pytest.raises(TypeError):
        S.load(3)
    with pytest.raises(TypeError):
        S.var("a").save(3)


@pytest.mark.parametrize("name", ["net_19", "old_08"])
def test_damaged_files_load_or_are_refused(name):
    text, rng = text_of(name), random.Random(name)
    for round in range(300):
        if round % 3 == 0:
            damaged = text[: rng.randrange(len(text))]
        else:
            characters = list(text)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(text))
                characters[at : at + rng.randrange(3)] = rng.choice('0-9"[]{},:x\\\n\ud83d')
            damaged = "".join(characters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                symbol = S.load_json(damaged)
                symbol.infer_shape_partial()
                symbol.tojson()
            except MXNetError:
                pass


def test_long_chains_are_no_problem():
    out = S.var("a")
    for _ in range(5000):
        out = out + 1
    text = out.tojson()
    assert S.load_json(text).tojson() == text
    assert out.infer_shape(a=(2,))[1] == [(2,)]


def test_outputs_that_only_the_original_kernels_have_are_refused():
    pooled = S.Pooling(S.var("data"), kernel=(2, 2), name="pool")  # MXNet counts a workspace too
    content = json.loads(S.Flatten(pooled, name="flat").tojson())
    content["nodes"][-1]["inputs"][0][1] = 1
    with pytest.raises(MXNetError, match="output 1 of pool, which has 1"):
        S.load_json(json.dumps(content))
