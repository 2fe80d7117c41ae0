"""Words of texts."""

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
        What divides words and sentences, regular expressions.
    to_lower : bool
        Count them in lower case.
    counter_to_update : collections.Counter, optional
        Where to count; a new one by default.

    Returns
    -------
    collections.Counter
    """
    words = [word for word in re.split(f"{token_delim}|{seq_delim}", source_str) if word]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    counter.update(word.lower() if to_lower else word for word in words)
    return counter
