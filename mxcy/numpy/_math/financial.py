"""Financial functions, as in NumPy up to version 1.19."""

import numpy as onp

from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._shape.manipulation import promoted
from mxcy.numpy._statistics.averages import floating

__all__ = ["mirr", "npv", "pmt", "ppmt", "pv", "rate"]

_WHEN = {"end": 0, "begin": 1, "e": 0, "b": 1, "finish": 0, "start": 1, "beginning": 1}


def _when(when):
    """Return 0 for payments at the end of a period, 1 for the beginning."""
    return _WHEN[when] if isinstance(when, str) else as_np_array(when)


def _numbers(*values):
    """Convert to arrays of one floating-point dtype; Python scalars do not affect it."""
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
    """Return the future values of one unit and of payments of one unit per period."""
    power = (1 + rate) ** nper
    still = rate == 0
    grown = (1 + rate * when) * (power - 1) / (rate + still)
    return power, function("where")(still, nper + rate * 0, grown)


def pv(rate, nper, pmt, fv=0, when="end"):
    """Compute the present value of a series of payments.

    Parameters
    ----------
    rate : array_like
        Interest rate per period.
    nper : array_like
        Number of periods.
    pmt : array_like
        Payment per period.
    fv : array_like
        Future value.
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
    """Compute the payment per period that repays a loan.

    Parameters
    ----------
    rate : array_like
        Interest rate per period.
    nper : array_like
        Number of periods.
    pv : array_like
        The loan.
    fv : array_like
        Future value.
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
    """Compute the part of a payment that repays principal rather than interest.

    Parameters
    ----------
    rate : array_like
        Interest rate per period.
    per : array_like
        Period, counted from 1.
    nper : array_like
        Number of periods.
    pv : array_like
        The loan.
    fv : array_like
        Future value.
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
    """Compute the net present value of a series of cash flows, the first of them undiscounted.

    Parameters
    ----------
    rate : number or array_like
        Discount rate per period.
    values : array_like

    Returns
    -------
    ndarray
    """
    rate, values = _numbers(rate, values)
    periods = as_np_array(onp.arange(values.shape[-1], dtype=values.dtype))
    return (values / (1 + rate) ** periods).sum()


def mirr(values, finance_rate, reinvest_rate):
    """Compute the modified internal rate of return.

    Parameters
    ----------
    values : array_like
        Cash flows; the result is NaN unless there are both gains and losses.
    finance_rate : number
        Interest rate paid on losses.
    reinvest_rate : number
        Interest rate received on gains.

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
    """Compute the interest rate per period by Newton's method.

    Parameters
    ----------
    nper : array_like
        Number of periods.
    pmt : array_like
        Payment per period.
    pv : array_like
        Present value.
    fv : array_like
        Future value.
    when : {'end', 'begin'}
        When payments are made.
    guess : number, optional
        Initial guess, 0.1 by default.
    tol : number, optional
        Step size at which to stop, 1e-6 by default.
    maxiter : int
        Maximum number of iterations; NaN if not converged by then.

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
