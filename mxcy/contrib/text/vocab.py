"""Numbers of words."""

from mxcy.base import MXNetError

__all__ = ["Vocabulary"]

UNKNOWN_IDX = 0


class TextError(MXNetError, AssertionError):
    """Words, vectors or a file of them do not fit; MXNet asserts what must hold."""


class Vocabulary:
    """Indices of words.

    Index 0 is any unknown word; reserved words follow, then counted ones, frequent words first and
    equally frequent ones in alphabetical order.

    Parameters
    ----------
    counter : collections.Counter, optional
        How often words occur.
    most_freq_count : int, optional
        At most so many of them get a number.
    min_freq : int
        How often a word has to occur.
    unknown_token : hashable
        What stands for unknown words.
    reserved_tokens : list of hashable, optional
        Words that get a number in any case.

    Raises
    ------
    TextError
        When `min_freq` is not positive, `counter` is none, or reserved words occur twice or contain
        `unknown_token`.
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
        """dict of str to int: the number of each word."""
        return self._token_to_idx

    @property
    def idx_to_token(self):
        """list of str: the words in the order of their numbers."""
        return self._idx_to_token

    @property
    def unknown_token(self):
        """str: what stands for unknown words."""
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """list of str or None: words that have a number in any case."""
        return self._reserved_tokens

    def to_indices(self, tokens):
        """The numbers of words.

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
        """The words of numbers.

        Parameters
        ----------
        indices : int or list of int

        Returns
        -------
        str or list of str

        Raises
        ------
        ValueError
            When there is no such number.
        """
        for index in indices if isinstance(indices, list) else [indices]:
            if not isinstance(index, int) or index >= len(self):
                raise ValueError(f"Token index {index} in the provided `indices` is invalid.")
        if isinstance(indices, list):
            return [self._idx_to_token[index] for index in indices]
        return self._idx_to_token[indices]
