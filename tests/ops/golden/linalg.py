"""Calls of the linear algebra operators, in double precision."""

import numpy as np

from .case import Case, draw, normal


def wide(*shape, seed=0):
    return normal(*shape, seed=seed, dtype="float64")


A = wide(3, 3)
REGULAR = np.stack([A + 3 * np.eye(3), wide(3, 3, seed=1) - 3 * np.eye(3)])
SYMMETRIC = A @ A.T + np.eye(3)
BATCH = np.stack([SYMMETRIC, SYMMETRIC + np.eye(3)])
B = wide(3, 4)
BS = wide(2, 3, 4)
SINGULAR = np.ones((2, 2))


def products():
    yield "gemm", Case("linalg.gemm", A, B, wide(3, 4, seed=2), alpha=2.0, beta=3.0, wrt=(0, 1, 2))
    yield (
        "gemm_both",
        Case(
            "linalg.gemm",
            wide(2, 4, 3),
            wide(2, 5, 4),
            wide(2, 3, 5),
            transpose_a=True,
            transpose_b=True,
            wrt=(0, 1, 2),
        ),
    )
    yield (
        "gemm_axis",
        Case(
            "linalg.gemm",
            wide(2, 3, 4),
            wide(5, 3, 4),
            wide(2, 3, 5),
            axis=0,
            transpose_b=True,
            wrt=(0, 1, 2),
        ),
    )
    yield "gemm2", Case("linalg.gemm2", A, B, alpha=2.0, transpose_a=True, wrt=(0, 1))
    yield "gemm2_axis", Case("linalg.gemm2", wide(2, 3, 4, 5), wide(2, 5, 4, 6), axis=1, wrt=(0, 1))
    yield "gemm2_float32", Case("linalg.gemm2", normal(3, 4), normal(4, 5), wrt=(0, 1))
    yield "syrk", Case("linalg.syrk", B, alpha=2.0, wrt=(0,))
    yield "syrk_transposed", Case("linalg.syrk", BS, transpose=True, wrt=(0,))


def triangular():
    for op in ("trmm", "trsm"):
        for transpose in (False, True):
            for lower in (False, True):
                shared = {"transpose": transpose, "lower": lower, "alpha": 2.0, "wrt": (0, 1)}
                yield f"{op}-left-{transpose}-{lower}", Case(f"linalg.{op}", REGULAR, BS, **shared)
                yield (
                    f"{op}-right-{transpose}-{lower}",
                    Case(f"linalg.{op}", REGULAR[0], B.T, rightside=True, **shared),
                )


def factors():
    yield "potrf", Case("linalg.potrf", SYMMETRIC, wrt=(0,))
    yield "potrf_batch", Case("linalg.potrf", BATCH, wrt=(0,))
    yield "potri", Case("linalg.potri", np.tril(REGULAR[0]), wrt=(0,))
    yield "potri_full", Case("linalg.potri", REGULAR, wrt=(0,))
    for name, array in (("symmetric", BATCH), ("regular", REGULAR)):
        yield f"potri_upper_{name}", Case("linalg.potri", array, lower=False, wrt=(0,))
    yield "potrf_upper", Case("linalg.potrf", BATCH, lower=False, wrt=(0,))
    yield "inverse", Case("linalg.inverse", REGULAR, wrt=(0,))
    yield "inverse_one", Case("linalg.inverse", A, wrt=(0,))
    yield "gelqf", Case("linalg.gelqf", wide(2, 3), wrt=(0,))
    yield "gelqf_batch", Case("linalg.gelqf", wide(2, 3, 3), wrt=(0,))
    yield "syevd", Case("linalg.syevd", SYMMETRIC, wrt=(0,))
    yield "syevd_batch", Case("linalg.syevd", BATCH, wrt=(0,))
    yield "syevd_triangle", Case("linalg.syevd", A, wrt=(0,))


def determinants():
    yield "det", Case("linalg.det", SYMMETRIC, wrt=(0,))
    yield "det_batch", Case("linalg.det", REGULAR, wrt=(0,))
    yield "det_singular", Case("linalg.det", SINGULAR, wrt=(0,))
    yield "slogdet", Case("linalg.slogdet", REGULAR, wrt=(0,))
    positive = draw(2, 3, 3, low=0.5, high=2, dtype="float64")
    yield "sumlogdiag", Case("linalg.sumlogdiag", positive, wrt=(0,))
    yield "sumlogdiag_one", Case("linalg.sumlogdiag", positive[0], wrt=(0,))


def parts():
    for offset in (-1, 0, 1, 2):
        yield f"extractdiag-{offset}", Case("linalg.extractdiag", BATCH, offset=offset, wrt=(0,))
        yield f"makediag-{offset}", Case("linalg.makediag", wide(2, 3), offset=offset, wrt=(0,))
        for lower in (False, True):
            shared = {"offset": offset, "lower": lower, "wrt": (0,)}
            yield (
                f"extracttrian-{offset}-{lower}",
                Case("linalg.extracttrian", wide(4, 4), **shared),
            )
            yield f"maketrian-{offset}-{lower}", Case("linalg.maketrian", wide(2, 6), **shared)


FAMILY = (products, triangular, factors, determinants, parts)
