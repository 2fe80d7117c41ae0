"""The state of buckets as other threads see it."""

import numpy as np

from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.reductions import AllReduce
from mxcy.dist.keys.slots import Slot


class _WatchedSlot(Slot):
    """Records what the program's thread can read when it is notified of its bucket."""

    @property
    def bucket(self):
        return self._bucket

    @bucket.setter
    def bucket(self, bucket):
        self._bucket = bucket
        if bucket is not None:
            self.seen = (self.arrived, self.rounds, self.complete, bucket.in_flight, bucket.pending)


def test_slots_get_buckets_that_are_ready():
    slots = [_WatchedSlot(key, (3,), "float32", None) for key in "ab"]
    bucket = Bucket(slots, None, 2, AllReduce())
    assert [slot.seen for slot in slots] == [(0, 0, True, False, False)] * 2
    assert bucket.length == 6
    assert np.r_[slots[1].span].tolist() == [3, 4, 5]
