"""Payments and interest, the functions that NumPy had up to version 1.19."""

import numpy as onp

from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._shape.manipulation import promoted
from mxcy.numpy._statistics.averages import floating

__all__ = ["mirr", "npv", "pmt", "ppmt", "pv", "rate"]

_WHEN = {"end": 0, "begin": 1, "e": 0, "b": 1, "finish": 0, "start": 1, "beginning": 1}


def _when(when):
    """0 for payments at the end of a period, 1 for its beginning."""
    return _WHEN[when] if isinstance(when, str) else as_np_array(when)


def _numbers(*values):
    """Arrays in one floating type, in which Python's numbers have no say beside arrays."""
    weak = [isinstance(value, (int, float)) for value in values]
    arrays = promoted(
        [as_np_array(v) for v, w in zip(values, weak, strict=True) if not w or all(weak)]
    )
    kind = floating(arrays[0].as_np_ndarray()).dtype
    return [
        as_np_array(onp.asarray(value, kind)) if w else as_np_array(value).astype(kind, copy=False)
        for value, w in zip(values, weak, strict=True)
    ]


def _growth(rate, nper, when):
    """What one unit grows to, and what payments of one unit come to."""
    power = (1 + rate) ** nper
    still = rate == 0
    grown = (1 + rate * when) * (power - 1) / (rate + still)
    return power, function("where")(still, nper + rate * 0, grown)


def pv(rate, nper, pmt, fv=0, when="end"):
    """The present value of payments.

    Parameters
    ----------
    rate : array_like
        Interest in a period.
    nper : array_like
        The number of periods.
    pmt : array_like
        The payment in each.
    fv : array_like
        The value in the end.
    when : {'end', 'begin'}
        When payments are made.

    Returns
    -------
    ndarray
    """
    rate, nper, pmt, fv = _numbers(rate, nper, pmt, fv)
    power, paid = _growth(rate, nper, _when(when))
    return -(fv + pmt * paid) / power


def pmt(rate, nper, pv, fv=0, when="end"):
    """The payment that repays a loan.

    Parameters
    ----------
    rate : array_like
        Interest in a period.
    nper : array_like
        The number of periods.
    pv : array_like
        The loan.
    fv : array_like
        The value in the end.
    when : {'end', 'begin'}
        When payments are made.

    Returns
    -------
    ndarray
    """
    rate, nper, pv, fv = _numbers(rate, nper, pv, fv)
    power, paid = _growth(rate, nper, _when(when))
    return -(fv + pv * power) / paid


def ppmt(rate, per, nper, pv, fv=0, when="end"):
    """What of a payment repays the loan, the rest being interest.

    Parameters
    ----------
    rate : array_like
        Interest in a period.
    per : array_like
        The period, from 1.
    nper : array_like
        The number of periods.
    pv : array_like
        The loan.
    fv : array_like
        The value in the end.
    when : {'end', 'begin'}
        When payments are made.

    Returns
    -------
    ndarray
    """
    rate, per, nper, pv, fv = _numbers(rate, per, nper, pv, fv)
    when = _when(when)
    total = pmt(rate, nper, pv, fv, when)
    power, paid = _growth(rate, per - 1, when)
    interest = -(pv * power + total * paid) * rate / (1 + rate * when)
    return total - interest * ((per > 1) | (as_np_array(when) == 0))


def npv(rate, values):
    """The value today of a row of cash flows, the first of which is today.

    Parameters
    ----------
    rate : number or array_like
        The discount in a period.
    values : array_like

    Returns
    -------
    ndarray
    """
    rate, values = _numbers(rate, values)
    periods = as_np_array(onp.arange(values.shape[-1], dtype=values.dtype))
    return (values / (1 + rate) ** periods).sum()


def mirr(values, finance_rate, reinvest_rate):
    """The modified internal rate of return.

    Parameters
    ----------
    values : array_like
        Cash flows; NaN without both gains and losses.
    finance_rate : number
        Interest paid on losses.
    reinvest_rate : number
        Interest received on gains.

    Returns
    -------
    ndarray
    """
    values, finance, reinvest = _numbers(values, finance_rate, reinvest_rate)
    gains = abs(npv(reinvest, values * (values > 0)))
    losses = abs(npv(finance, values * (values < 0)))
    result = (gains / losses) ** (1 / (values.size - 1)) * (1 + reinvest) - 1
    return function("where")((gains == 0) | (losses == 0), onp.nan, result)


def rate(nper, pmt, pv, fv, when="end", guess=None, tol=None, maxiter=100):
    """The interest in a period, by Newton's method.

    Parameters
    ----------
    nper : array_like
        The number of periods.
    pmt : array_like
        The payment in each.
    pv : array_like
        The present value.
    fv : array_like
        The value in the end.
    when : {'end', 'begin'}
        When payments are made.
    guess : number, optional
        Where to start, 0.1 by default.
    tol : number, optional
        The last step's size, 1e-6 by default.
    maxiter : int
        After that many steps the result is NaN.

    Returns
    -------
    ndarray
    """
    numbers = _numbers(nper, pmt, pv, fv)
    nper, pmt, pv, fv = (value.astype("float64") for value in numbers)
    when = _when(when)
    interest = 0.1 if guess is None else guess
    interest = as_np_array(onp.asarray(interest, "float64")) + 0 * (nper + pmt + pv + fv)
    for _ in range(maxiter):
        power = (1 + interest) ** nper
        before = power / (1 + interest)
        paid = pmt * (1 + interest * when)
        value = fv + power * pv + paid * (power - 1) / interest
        slope = nper * before * pv
        slope = slope - paid * (power - 1) / interest**2
        slope = slope + nper * paid * before / interest + pmt * when * (power - 1) / interest
        step = value / slope
        interest = interest - step
        if (abs(step) < (1e-6 if tol is None else tol)).all().item():
            return interest.astype(numbers[0].dtype)
    return (interest * onp.nan).astype(numbers[0].dtype)
