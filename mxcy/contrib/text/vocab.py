"""Numbering words."""

__all__ = ["Vocabulary"]


class Vocabulary:
    """Words and their numbers: first the unknown word, then reserved ones, then by frequency.

    Parameters
    ----------
    counter : collections.Counter, optional
        How often each word occurs; words that occur equally often are in alphabetical order.
    most_freq_count : int, optional
        The largest number of words taken from the counter.
    min_freq : int
        Words that occur less often are not taken.
    unknown_token : str
        Stands for all words without a number; its own is 0.
    reserved_tokens : list of str, optional
        Words that get numbers in any case.
    """

    def __init__(
        self,
        counter=None,
        most_freq_count=None,
        min_freq=1,
        unknown_token="<unk>",
        reserved_tokens=None,
    ):
        assert min_freq > 0, f"min_freq must be positive, got {min_freq}"
        special = [unknown_token, *(reserved_tokens or ())]
        assert len(set(special)) == len(special), (
            f"reserved_tokens must neither repeat nor contain the unknown token, got {special}"
        )
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._tokens = special
        known = set(special)
        words = [word for word, n in (counter or {}).items() if n >= min_freq and word not in known]
        words.sort(key=lambda word: (-counter[word], word))
        self._tokens = special + words[:most_freq_count]
        self._indices = {word: index for index, word in enumerate(self._tokens)}

    def __len__(self):
        """Return the number of words."""
        return len(self._tokens)

    @property
    def token_to_idx(self):
        """dict of str to int: the words' numbers."""
        return self._indices

    @property
    def idx_to_token(self):
        """list of str: the words by their numbers."""
        return self._tokens

    @property
    def unknown_token(self):
        """str: stands for all words without a number."""
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """list of str or None: words that got numbers in any case."""
        return self._reserved_tokens

    def to_indices(self, tokens):
        """Number words.

        Parameters
        ----------
        tokens : str or list of str
            The words.

        Returns
        -------
        int or list of int
            0 for words without a number.
        """
        if isinstance(tokens, str):
            return self._indices.get(tokens, 0)
        return [self._indices.get(token, 0) for token in tokens]

    def to_tokens(self, indices):
        """Find words by their numbers.

        Parameters
        ----------
        indices : int or list of int
            The numbers.

        Returns
        -------
        str or list of str

        Raises
        ------
        ValueError
            When there is no such number.
        """
        single = not isinstance(indices, (list, tuple))
        found = []
        for index in [indices] if single else indices:
            if not (isinstance(index, int) and 0 <= index < len(self)):
                raise ValueError(f"Token index {index} in the provided `indices` is invalid.")
            found.append(self._tokens[index])
        return found[0] if single else found
