"""Libraries written for the array API, called with arrays of `mx.np`."""

import numpy as onp
import pytest

import mxcy as mx
from tests.env.run import python

np = mx.np


@pytest.fixture(autouse=True)
def numpy_types():
    """Enable NumPy's element types, which these libraries expect."""
    with mx.util.np_default_dtype(True):
        yield


def close(actual, wanted, tolerance=1e-9):
    assert type(actual) is np.ndarray
    onp.testing.assert_allclose(actual.asnumpy(), wanted, rtol=tolerance, atol=tolerance)


# --- array-api-compat and array-api-extra --------------------------------------------------------


def test_compat_recognises_the_namespace():
    compat = pytest.importorskip("array_api_compat")
    array = np.ones((2, 3))
    assert compat.is_array_api_obj(array) and compat.is_writeable_array(array)
    assert compat.array_namespace(array, None, 1.0, api_version="2024.12") is np
    assert compat.device(array) == array.device and compat.size(array) == 6
    assert compat.to_device(array, array.device) is array
    assert not compat.is_numpy_array(array) and not compat.is_lazy_array(array)


def test_extra_functions():
    extra = pytest.importorskip("array_api_extra")
    values = onp.asarray([[1.0, 2, 3], [4, 5, 7]])
    array = np.asarray(values)
    close(extra.cov(array), onp.cov(values))
    close(extra.kron(array, array), onp.kron(values, values))
    close(extra.sinc(array), onp.sinc(values), 1e-12)
    close(extra.pad(array, 1), onp.pad(values, 1))
    close(extra.create_diagonal(array[0]), onp.diag(values[0]))
    close(extra.setdiff1d(array[0], array[0, :1]), [2, 3])
    assert extra.one_hot(np.asarray([0, 2]), 3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert extra.nunique(array).item() == 6 and extra.isclose(array, array + 1e-12).all()
    changed = extra.at(array, (0, 1)).set(9.0, copy=True)
    assert changed[0, 1].item() == 9 and array[0, 1].item() == 2
    close(
        extra.apply_where(array > 2, array, lambda x: x * 2, fill_value=0.0),
        (values > 2) * values * 2,
    )


# --- einops --------------------------------------------------------------------------------------


def test_einops():
    einops = pytest.importorskip("einops")
    values = onp.arange(120.0).reshape(2, 3, 4, 5)
    array = np.asarray(values)
    array.attach_grad()
    with mx.autograd.record():
        flat = einops.rearrange(array, "b h w c -> b (h w) c")
        loss = (einops.reduce(flat, "b n c -> b c", "mean") * 12).sum()
    loss.backward()
    assert type(flat) is np.ndarray and (array.grad == 1).all()
    for pattern, sizes in (("b h w c -> b (h 2) w c", {}), ("b h w c -> b h w c k", {"k": 3})):
        close(einops.repeat(array, pattern, **sizes), einops.repeat(values, pattern, **sizes))
    for how in ("max", "min", "sum", "prod", "mean"):
        close(
            einops.reduce(array, "b h w c -> h c", how),
            einops.reduce(values, "b h w c -> h c", how),
        )
    pattern = "b h w c, b h w d -> c d"
    close(einops.einsum(array, array, pattern), einops.einsum(values, values, pattern))
    packed, shapes = einops.pack([array, array[0]], "* h w c")
    assert packed.shape == (3, 3, 4, 5) and einops.unpack(packed, shapes, "* h w c")[1].ndim == 3
    assert einops.parse_shape(array, "b h _ c") == {"b": 2, "h": 3, "c": 5}
    with pytest.raises(NotImplementedError, match="floating"):
        einops.reduce(np.asarray([[1, 2]]), "a b -> a", "mean")


@pytest.mark.parametrize("first", ["mxcy", "einops"])
def test_einops_in_any_order(first):
    pytest.importorskip("einops")
    second = "einops" if first == "mxcy" else "mxcy"
    actual = python(
        f"import {first}, {second}\n"
        "print(einops.rearrange(mxcy.np.ones((2, 3)), 'a b -> b a').shape)"
    )
    assert actual.out.strip() == "(3, 2)"


# --- scikit-learn --------------------------------------------------------------------------------


_SKLEARN = """
import numpy as onp
import mxcy as mx
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, r2_score
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

mx.npx.set_np(dtype=True)
rng = onp.random.default_rng(0)
x = rng.normal(size=(60, 5)) * onp.arange(1, 6)
y = (x @ onp.arange(5) + rng.normal(size=60) > 0).astype(onp.int64)
slope = x[:, 0] - x[:, 1]
array, labels = mx.np.asarray(x), mx.np.asarray(y)
steps = [
    StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), PCA(3, svd_solver="full"),
    PCA(3, svd_solver="covariance_eigh"),
]
sklearn.set_config(array_api_dispatch=True)

def close(found, wanted):
    assert type(found) is mx.np.ndarray
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-7, atol=1e-7)

for step in steps:
    close(abs(step.fit(array).transform(array)), abs(step.fit(x).transform(x)))
model = LinearDiscriminantAnalysis
found, wanted = (model().fit(*xy).predict(xy[0]) for xy in [(array, labels), (x, y)])
close(found, wanted)
assert accuracy_score(labels, found) == accuracy_score(y, wanted)
found = Ridge(solver="svd").fit(array, mx.np.asarray(slope)).predict(array)
close(found, Ridge(solver="svd").fit(x, slope).predict(x))
assert r2_score(mx.np.asarray(slope), found) > 0.99
print(len(steps))
"""


def test_scikit_learn():
    pytest.importorskip("sklearn")
    assert python(_SKLEARN, SCIPY_ARRAY_API="1").out.strip() == "6"


# --- SciPy ---------------------------------------------------------------------------------------

_SCIPY = """
import numpy as onp
import mxcy as mx
import scipy
from scipy import cluster, ndimage, signal, special, stats
mx.npx.set_np(dtype=True)
values = onp.random.default_rng(0).random(50)
array = mx.np.asarray(values)
functions = [
    special.expit, special.erf, special.gammaln, special.logit, special.ndtr, special.logsumexp,
    lambda x: special.xlogy(x, x), special.softmax, stats.zscore, stats.skew, stats.kurtosis,
    stats.gmean, stats.sem, lambda x: stats.moment(x, 2),
    lambda x: stats.pearsonr(x[:25], x[25:])[0],
    lambda x: stats.ttest_1samp(x, 0.4).statistic, lambda x: signal.convolve(x, x), signal.detrend,
    lambda x: ndimage.gaussian_filter(x, 1.0), lambda x: cluster.vq.whiten(x.reshape(25, 2)),
]
for function in functions:
    found, wanted = function(array), function(values)
    assert type(found) is mx.np.ndarray, function
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-9, atol=1e-12)
print(len(functions))
"""


def test_scipy():
    scipy = pytest.importorskip("scipy")
    if onp.lib.NumpyVersion(scipy.__version__) < "1.16.0":
        pytest.skip("older ones know fewer functions")
    assert python(_SCIPY, SCIPY_ARRAY_API="1").out.strip() == "20"
