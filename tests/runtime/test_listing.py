"""`dir()` of public modules shows what they define, not what they import."""

import types

import pytest

import mxcy as mx

#: modules whose names are all made or listed by themselves
MODULES = [
    mx,
    mx.attribute,
    mx.autograd,
    mx.base,
    mx.callback,
    mx.contrib,
    mx.context,
    mx.engine,
    mx.gluon,
    mx.gluon.block,
    mx.gluon.data,
    mx.gluon.data.vision,
    mx.gluon.loss,
    mx.gluon.metric,
    mx.gluon.nn,
    mx.gluon.parameter,
    mx.gluon.probability,
    mx.gluon.rnn,
    mx.gluon.trainer,
    mx.gluon.utils,
    mx.image,
    mx.initializer,
    mx.io,
    mx.kvstore,
    mx.lr_scheduler,
    mx.metric,
    mx.mod,
    mx.model,
    mx.monitor,
    mx.name,
    mx.nd,
    mx.nd.contrib,
    mx.nd.linalg,
    mx.nd.random,
    mx.nd.sparse,
    mx.np,
    mx.np.fft,
    mx.np.linalg,
    mx.np.random,
    mx.npx,
    mx.npx.random,
    mx.onnx,
    mx.operator,
    mx.optimizer,
    mx.profiler,
    mx.random,
    mx.recordio,
    mx.registry,
    mx.rnn,
    mx.rtc,
    mx.runtime,
    mx.sym,
    mx.sym.contrib,
    mx.sym.linalg,
    mx.sym.random,
    mx.util,
    mx.viz,
]
HELPERS = {
    "F",
    "NDArrayBase",
    "PerThread",
    "as_array",
    "did_you_mean",
    "draw",
    "front",
    "given",
    "import_module",
    "introduce",
    "listing",
    "module_getattr",
    "no_attribute",
    "normal_axis",
    "older_paths",
    "operate",
    "place",
    "promoted",
    "store",
}
#: modules that go by further names on purpose, as MXNet's do
ALIASES = set("img init kv kvstore_server mod mon nd np npx opt quant rnd sym th viz".split())


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_modules_list_what_they_offer(module):
    names = [name for name in dir(module) if not name.startswith("_")]
    offered = ALIASES.union(getattr(module, "__all__", ()))
    assert names
    own = {"place"} if module is mx.np else set()  # writes where a mask is true
    assert not HELPERS & set(names) - offered - own
    for name in set(names) - offered:
        value = getattr(module, name)
        assert (
            not isinstance(value, types.ModuleType) or value.__name__ == f"{module.__name__}.{name}"
        ), name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_all_that_a_star_imports_is_listed(module):
    assert set(getattr(module, "__all__", ())) <= set(dir(module))


def test_a_listed_name_need_not_exist_yet():
    assert {"amp", "onnx", "viz"} <= set(dir(mx))
    assert {"Convolution", "zeros", "contrib"} <= set(dir(mx.nd))
    assert {"Convolution", "Variable", "contrib"} <= set(dir(mx.sym))
    assert "probability" in dir(mx.gluon)


def test_unlisted_names_remain_accessible():
    assert mx.recordio.struct.calcsize("I") == 4
    assert mx.lr_scheduler.cos(0) == 1
    assert "pi" in dir(mx.lr_scheduler)
