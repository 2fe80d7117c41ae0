"""Counting words."""

import re
from collections import Counter

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str, token_delim=" ", seq_delim="\n", to_lower=False, counter_to_update=None
):
    """Count the words of a text.

    Parameters
    ----------
    source_str : str
        The text.
    token_delim, seq_delim : str
        What stands between words, and between lines: regular expressions.
    to_lower : bool
        Make all letters small.
    counter_to_update : collections.Counter, optional
        Where to add the counts.

    Returns
    -------
    collections.Counter
        How often each word occurs.
    """
    text = source_str.lower() if to_lower else source_str
    counter = Counter() if counter_to_update is None else counter_to_update
    counter.update(filter(None, re.split(f"{token_delim}|{seq_delim}", text)))
    return counter
