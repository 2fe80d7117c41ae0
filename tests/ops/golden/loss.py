"""Calls of the output operators with an implicit loss."""

from .case import Case, array, draw, normal

X2, X3 = normal(4, 5), normal(2, 3, 4)
LABEL = array(1, 4, 0, 2)
INNER = array([0, 2, 1, 1], [2, 1, 0, 0])


def softmax_output():
    def case(data, label, **attrs):
        return Case("SoftmaxOutput", data, label, wrt=(0, 1), **attrs)

    for normalization in ("null", "batch", "valid"):
        shared = {"normalization": normalization, "grad_scale": 1.5}
        ignored = {**shared, "use_ignore": True, "ignore_label": 1}
        yield f"rows-{normalization}", case(X2, LABEL, **shared)
        yield f"rows_ignored-{normalization}", case(X2, LABEL, **ignored)
        yield f"rows_smooth-{normalization}", case(X2, LABEL, smooth_alpha=0.2, **ignored)
        yield f"unused_ignore_label-{normalization}", case(X2, LABEL, ignore_label=4, **shared)
        yield f"multi-{normalization}", case(X3, INNER, multi_output=True, **shared)
        yield f"multi_ignored-{normalization}", case(X3, INNER, multi_output=True, **ignored)
        yield (
            f"preserve-{normalization}",
            case(X3, array([0, 3, 1], [2, 1, 3]), preserve_shape=True, **shared),
        )
        yield (
            f"preserve_ignored-{normalization}",
            case(X3, array([0, 3, 1], [2, 1, 3]), preserve_shape=True, **ignored),
        )
        yield f"flattened-{normalization}", case(X3, array([7, 3, 1], [2, 1, 3]), **shared)
        yield f"probabilities-{normalization}", case(X2, draw(4, 5, low=0), **ignored)
    yield "multi_smooth", case(X3, INNER, multi_output=True, smooth_alpha=0.2)
    yield "multi_kept", case(X3, INNER.reshape(2, 1, 4), multi_output=True)
    yield "multi_4d", case(normal(2, 3, 2, 2), INNER.reshape(2, 2, 2), multi_output=True)
    yield "fractions", case(X2, array(1.7, 4.2, 0.9, 2.0))
    yield "out_of_range", case(X2, array(1, 7, -1, 2))
    yield "float64", case(X2.astype("float64"), LABEL.astype("float64"))


def cross_entropy():
    yield "sum", Case("softmax_cross_entropy", X2, LABEL, wrt=(0,))


def regression():
    for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        yield op, Case(op, X2, draw(4, 5, seed=3), wrt=(0, 1))
        yield f"{op}-scaled", Case(op, X2, draw(4, 5, seed=3), grad_scale=3.0, wrt=(0, 1))
        yield f"{op}-column", Case(op, normal(4, 1), draw(4, seed=3), wrt=(0, 1))
        yield f"{op}-vector", Case(op, normal(4), draw(4, seed=3), wrt=(0, 1))
        yield f"{op}-reshaped", Case(op, X3, draw(2, 12, seed=3), wrt=(0, 1))


def svm():
    for use_linear in (False, True):
        shared = {"use_linear": use_linear, "wrt": (0, 1)}
        yield f"default-{use_linear}", Case("SVMOutput", X2, LABEL, **shared)
        yield (
            f"scaled-{use_linear}",
            Case("SVMOutput", X2, LABEL, margin=0.5, regularization_coefficient=2.0, **shared),
        )
        yield f"3d-{use_linear}", Case("SVMOutput", X3, array([0, 3, 1], [2, 1, 3]), **shared)


def make_loss():
    for normalization in ("null", "batch", "valid"):
        yield (
            normalization,
            Case(
                "MakeLoss",
                X2,
                normalization=normalization,
                grad_scale=2.0,
                valid_thresh=0.3,
                wrt=(0,),
            ),
        )
    yield "none_valid", Case("MakeLoss", X2, normalization="valid", valid_thresh=9.0, wrt=(0,))
    yield "lower", Case("make_loss", X2, wrt=(0,))


FAMILY = (softmax_output, cross_entropy, regression, svm, make_loss)
