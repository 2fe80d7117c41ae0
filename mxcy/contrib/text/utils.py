"""Counting words in texts."""

import collections
import re

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(
    source_str, token_delim=" ", seq_delim="\n", to_lower=False, counter_to_update=None
):
    """Count the words of a text.

    Parameters
    ----------
    source_str : str
    token_delim, seq_delim : str
        Regular expressions that separate words and sentences.
    to_lower : bool
        Convert words to lower case.
    counter_to_update : collections.Counter, optional
        Counter to update; a new one by default.

    Returns
    -------
    collections.Counter
    """
    words = [word for word in re.split(f"{token_delim}|{seq_delim}", source_str) if word]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(word.lower() if to_lower else word for word in words)
    return counter
