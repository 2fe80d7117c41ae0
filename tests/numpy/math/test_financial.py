"""Financial functions, against month-by-month computation."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.slopes import check_gradient

np = mx.np


def left(rate, periods, payment, loan, begin):
    """What remains of a loan, month by month."""
    for _ in range(periods):
        loan = (loan + payment) * (1 + rate) if begin else loan * (1 + rate) + payment
    return loan


@pytest.mark.parametrize("rate", [0.0, 0.05])
@pytest.mark.parametrize("when", ["end", "begin"])
def test_a_loan_is_repaid(rate, when):
    payment = np.pmt(np.array(rate, "float64"), 12, 1000.0, when=when)
    assert left(rate, 12, payment.item(), 1000.0, when == "begin") == pytest.approx(0, abs=1e-6)
    present = np.pv(np.array(rate, "float64"), 12, payment, when=when)
    assert present.item() == pytest.approx(1000)
    parts = np.ppmt(np.array(rate, "float64"), np.arange(1, 13), 12, 1000.0, when=when)
    assert parts.sum().item() == pytest.approx(-1000, rel=1e-4)
    if rate:
        actual = np.rate(np.array(12.0, "float64"), payment, 1000.0, 0.0, when)
        assert actual.item() == pytest.approx(rate)


def test_cash_flows():
    flows = onp.array([-100.0, 39, 59, 55, 20])
    expected = (flows / 1.281 ** onp.arange(5)).sum()
    assert np.npv(0.281, np.array(flows, "float64")).item() == pytest.approx(expected, rel=1e-5)
    actual = np.mirr(np.array(flows, "float64"), 0.1, 0.12).item()
    grown = (flows[1:] * 1.12 ** onp.arange(3, -1, -1)).sum()
    assert actual == pytest.approx((grown / 100) ** 0.25 - 1, rel=1e-5)
    assert onp.isnan(np.mirr(np.ones(3), 0.1, 0.1).item())
    check_gradient(lambda r, v: np.npv(r, v), onp.array(0.1), flows)
    check_gradient(lambda r, v: np.pmt(r, 12, v), onp.array(0.1), onp.array(100.0))
    assert onp.isnan(np.rate(10, 1.0, 1.0, 1.0, maxiter=5).item())
