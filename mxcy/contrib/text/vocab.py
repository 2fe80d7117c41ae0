"""Vocabularies, which map words to indices."""

from mxcy.base import MXNetError

__all__ = ["Vocabulary"]

UNKNOWN_IDX = 0


class TextError(MXNetError, AssertionError):
    """Invalid words, vectors or embedding files; MXNet raises AssertionError in these cases."""


class Vocabulary:
    """A mapping from words to indices.

    Index 0 represents unknown words, followed by reserved words, then counted words by decreasing
    frequency, and alphabetically if equally frequent.

    Parameters
    ----------
    counter : collections.Counter, optional
        Frequencies of words.
    most_freq_count : int, optional
        Maximum number of counted words.
    min_freq : int
        Minimum frequency of a word.
    unknown_token : hashable
        Token that represents unknown words.
    reserved_tokens : list of hashable, optional
        Words that are always included.

    Raises
    ------
    TextError
        If `min_freq` is not positive, `counter` is not a Counter, or reserved words are not unique
        or contain `unknown_token`.
    """

    def __init__(
        self,
        counter=None,
        most_freq_count=None,
        min_freq=1,
        unknown_token="<unk>",
        reserved_tokens=None,
    ):
        if min_freq <= 0:
            raise TextError(f"Vocabulary: min_freq must be positive, got {min_freq}")
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else list(reserved_tokens)
        self._idx_to_token = [unknown_token, *(reserved_tokens or ())]
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}
        if len(self._token_to_idx) != len(self._idx_to_token):
            raise TextError(
                "Vocabulary: reserved_tokens must differ from each other and from unknown_token "
                f"{unknown_token!r}, got {reserved_tokens}"
            )
        if counter is None:
            return
        if not isinstance(counter, dict):
            raise TextError(f"Vocabulary: expected a collections.Counter, got {type(counter)}")
        limit = len(self) + (len(counter) if most_freq_count is None else most_freq_count)
        alphabetical = sorted(counter.items(), key=lambda item: item[0])
        for token, count in sorted(alphabetical, key=lambda item: item[1], reverse=True):
            if count < min_freq or len(self) == limit:
                break
            if token not in self._token_to_idx:
                self._enter(token)

    def _enter(self, token):
        self._token_to_idx[token] = len(self._idx_to_token)
        self._idx_to_token.append(token)

    def __len__(self):
        return len(self._idx_to_token)

    @property
    def token_to_idx(self):
        """dict of str to int: index of each word."""
        return self._token_to_idx

    @property
    def idx_to_token(self):
        """list of str: words by index."""
        return self._idx_to_token

    @property
    def unknown_token(self):
        """str: token that represents unknown words."""
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """list of str or None: words that are always included."""
        return self._reserved_tokens

    def to_indices(self, tokens):
        """Convert words to indices.

        Parameters
        ----------
        tokens : str or list of str

        Returns
        -------
        int or list of int
        """
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, UNKNOWN_IDX) for token in tokens]
        return self._token_to_idx.get(tokens, UNKNOWN_IDX)

    def to_tokens(self, indices):
        """Convert indices to words.

        Parameters
        ----------
        indices : int or list of int

        Returns
        -------
        str or list of str

        Raises
        ------
        ValueError
            If an index is out of range.
        """
        for index in indices if isinstance(indices, list) else [indices]:
            if not isinstance(index, int) or index >= len(self):
                raise ValueError(f"Token index {index} in the provided `indices` is invalid.")
        if isinstance(indices, list):
            return [self._idx_to_token[index] for index in indices]
        return self._idx_to_token[indices]
