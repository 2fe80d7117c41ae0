"""Encoding of sentences, and iteration over buckets of similar lengths."""

import bisect
import random

import numpy as np

from mxcy import ndarray
from mxcy.io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(
    sentences, vocab=None, invalid_label=-1, invalid_key="\n", start_label=0, unknown_token=None
):
    """Encode words as integers.

    Parameters
    ----------
    sentences : list of list of str
    vocab : dict of str to int, optional
        Indices of words. If not given, a new vocabulary is built from the sentences.
    invalid_label : int
        Index of `invalid_key`, not used for words.
    invalid_key : str
        Token that marks the end of a sentence.
    start_label : int
        First index of words.
    unknown_token : str, optional
        Word that replaces unknown words of a given vocabulary; added if missing.

    Returns
    -------
    encoded : list of list of int
    vocab : dict of str to int

    Raises
    ------
    AssertionError
        If a given vocabulary lacks a word, and there is no `unknown_token`.
    """
    grows = vocab is None
    vocab = {invalid_key: invalid_label} if grows else vocab
    number = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in vocab:
                assert grows or unknown_token, f"encode_sentences: Unknown token {word}"
                number += number == invalid_label
                word = unknown_token or word
                vocab[word] = number
                number += 1
            numbers.append(vocab[word])
        encoded.append(numbers)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Iterate over batches of sentences of similar lengths; labels are the next words.

    Parameters
    ----------
    sentences : list of list of int
        Result of `encode_sentences`.
    batch_size : int
    buckets : list of int, optional
        Lengths to which sentences are padded; by default those of at least `batch_size`
        sentences. Longer sentences are dropped, with a message.
    invalid_label : int
        Padding value.
    data_name, label_name : str
    dtype : str
    layout : {'NT', 'TN'}
        Whether the first axis is the batch or the time.

    Attributes
    ----------
    buckets : list of int
        The lengths in use.
    default_bucket_key : int
        The maximum length.

    Raises
    ------
    ValueError
        If `layout` is unknown, or no sentence fits a bucket.
    """

    def __init__(
        self,
        sentences,
        batch_size,
        buckets=None,
        invalid_label=-1,
        data_name="data",
        label_name="softmax_label",
        dtype="float32",
        layout="NT",
    ):
        super().__init__()
        if layout not in ("NT", "TN"):
            raise ValueError(f"BucketSentenceIter: layout must be 'NT' or 'TN', got {layout!r}")
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        buckets.sort()
        rows = [[] for _ in buckets]
        discarded = 0
        for sentence in sentences:
            place = bisect.bisect_left(buckets, len(sentence))
            if place == len(buckets):
                discarded += 1
                continue
            row = np.full((buckets[place],), invalid_label, dtype=dtype)
            row[: len(sentence)] = sentence
            rows[place].append(row)
        print(f"WARNING: discarded {discarded} sentences longer than the largest bucket.")
        self.buckets = [length for length, own in zip(buckets, rows, strict=True) if own]
        if not self.buckets:
            raise ValueError("BucketSentenceIter: no sentence fits a bucket")
        self.data = [np.asarray(own, dtype=dtype) for own in rows if own]
        self.batch_size = batch_size
        self.data_name = data_name
        self.label_name = label_name
        self.dtype = dtype
        self.invalid_label = invalid_label
        self.layout = layout
        self.major_axis = layout.find("N")
        self.default_bucket_key = max(self.buckets)
        self.nddata = []
        self.ndlabel = []
        shape = (batch_size, self.default_bucket_key)
        shape = shape if self.major_axis == 0 else shape[::-1]
        self.provide_data = [DataDesc(name=data_name, shape=shape, layout=layout)]
        self.provide_label = [DataDesc(name=label_name, shape=shape, layout=layout)]
        self.idx = [
            (number, row)
            for number, own in enumerate(self.data)
            for row in range(0, len(own) - batch_size + 1, batch_size)
        ]
        self.curr_idx = 0
        self.reset()

    def reset(self):
        """Restart, with batches and sentences in a new order.

        Batches are shuffled by Python's `random`, sentences by `numpy.random`.
        """
        self.curr_idx = 0
        random.shuffle(self.idx)
        for rows in self.data:
            np.random.shuffle(rows)
        self.nddata = []
        self.ndlabel = []
        for rows in self.data:
            following = np.full_like(rows, self.invalid_label)
            following[:, :-1] = rows[:, 1:]
            self.nddata.append(ndarray.array(rows, dtype=self.dtype))
            self.ndlabel.append(ndarray.array(following, dtype=self.dtype))

    def next(self):
        """Return the next batch, with the length of its sentences as ``bucket_key``."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        number, row = self.idx[self.curr_idx]
        self.curr_idx += 1
        data = self.nddata[number][row : row + self.batch_size]
        label = self.ndlabel[number][row : row + self.batch_size]
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[number],
            provide_data=[DataDesc(name=self.data_name, shape=data.shape, layout=self.layout)],
            provide_label=[DataDesc(name=self.label_name, shape=label.shape, layout=self.layout)],
        )
