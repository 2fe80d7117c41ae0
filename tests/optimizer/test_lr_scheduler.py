"""Schedulers: errors and state (their curves are golden values)."""

import logging

import pytest

from mxcy import lr_scheduler


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: lr_scheduler.LRScheduler(warmup_mode="cubic"), "linear and constant"),
        (lambda: lr_scheduler.LRScheduler(warmup_begin_lr=0.1), "higher than warmup_begin_lr"),
        (lambda: lr_scheduler.LRScheduler(warmup_steps=-1), "positive or 0"),
        (lambda: lr_scheduler.FactorScheduler(0), "at least|greater or equal"),
        (lambda: lr_scheduler.FactorScheduler(1, 2), "no more than 1"),
        (lambda: lr_scheduler.MultiFactorScheduler([5, 5]), "increasing"),
        (lambda: lr_scheduler.MultiFactorScheduler([0]), "greater or equal"),
        (lambda: lr_scheduler.PolyScheduler(0), "strictly positive"),
        (lambda: lr_scheduler.CosineScheduler(0), "strictly positive"),
    ],
)
def test_refused_arguments(make, reason):
    with pytest.raises(ValueError, match=reason):
        make()


def test_refused_types():
    for make in (
        lambda: lr_scheduler.MultiFactorScheduler(5),
        lambda: lr_scheduler.PolyScheduler(1.5),
        lambda: lr_scheduler.LRScheduler(warmup_steps=1.5),
    ):
        with pytest.raises(AssertionError):
            make()


def test_warmup_lr():
    scheduler = lr_scheduler.LRScheduler(base_lr=1, warmup_steps=4)
    assert scheduler.get_warmup_lr(2) == 0.5
    with pytest.raises(AssertionError, match="not one of the 4"):
        scheduler.get_warmup_lr(4)
    with pytest.raises(NotImplementedError):
        scheduler(5)


def test_the_rate_may_be_changed_on_the_way(caplog):
    scheduler = lr_scheduler.FactorScheduler(2, 0.5, base_lr=1)
    with caplog.at_level(logging.INFO):
        assert scheduler(3) == 0.5
    assert "Update[3]: Change learning rate to 5.00000e-01" in caplog.text
    scheduler.base_lr = 8
    assert [scheduler(update) for update in (4, 5)] == [8, 4]
