"""Word embeddings, read from files."""

import logging
import os
import warnings

import numpy as np

from mxcy import ndarray as nd
from mxcy import registry
from mxcy._base.files import text_lines
from mxcy.base import data_dir
from mxcy.contrib.text.published import archives, files, published_file
from mxcy.contrib.text.vocab import UNKNOWN_IDX, TextError, Vocabulary
from mxcy.util import is_np_array

__all__ = [
    "CompositeEmbedding",
    "CustomEmbedding",
    "FastText",
    "GloVe",
    "create",
    "get_pretrained_file_names",
    "register",
]


class _TokenEmbedding(Vocabulary):
    """A vocabulary with a vector for each word.

    Without a given vocabulary, the words are those of the file. Unknown words get the file's vector
    of `unknown_token`, or else the result of `init_unknown_vec`.
    """

    #: downloadable files and their SHA-1
    pretrained_file_name_sha1 = {}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._vec_len = 0
        self._idx_to_vec = None

    @property
    def vec_len(self):
        """int: length of a vector."""
        return self._vec_len

    @property
    def idx_to_vec(self):
        """NDArray: the vectors by word index."""
        return self._idx_to_vec

    def _load(self, path, elem_delim, init_unknown_vec, encoding, vocabulary):
        """Read a file with one word and its vector per line."""
        path = os.path.expanduser(path)
        if not os.path.isfile(path):
            raise ValueError(f"there is no file of word vectors at {path}")
        logging.info("Loading word vectors from %s", path)
        unknown, rows, seen = None, [], set()
        for number, line in enumerate(text_lines(path, encoding), 1):
            token, *numbers = line.rstrip().split(elem_delim)
            if not numbers:
                raise TextError(f"{path}, line {number}: expected a word and its vector")
            if token == self._unknown_token and unknown is None:
                unknown = _vector(path, number, numbers, rows)
                seen.add(token)
            elif token in seen:
                warnings.warn(
                    f"{path}, line {number}: duplicate vector of {token} is skipped", stacklevel=3
                )
            elif len(numbers) == 1:
                warnings.warn(
                    f"{path}, line {number}: {token} with one number is skipped as a header",
                    stacklevel=3,
                )
            else:
                row = _vector(path, number, numbers, rows)
                rows.append(row)
                self._enter(token)
                seen.add(token)
        if not rows:
            raise TextError(f"{path} contains no word vectors")
        self._vec_len = len(rows[0])
        if unknown is not None and len(unknown) != self._vec_len:
            raise TextError(
                f"{path}: the vector of {self._unknown_token} has {len(unknown)} elements, others "
                f"{self._vec_len}"
            )
        first = np.zeros((len(self) - len(rows), self._vec_len), np.float32)
        vectors = nd.array(np.concatenate([first, np.stack(rows)]))
        self._idx_to_vec = vectors.as_np_ndarray() if is_np_array() else vectors
        self._idx_to_vec[UNKNOWN_IDX] = (
            init_unknown_vec(shape=self._vec_len) if unknown is None else nd.array(unknown)
        )
        if vocabulary is not None:
            self._take(vocabulary, [self])

    def _take(self, vocabulary, embeddings):
        """Take the words of a vocabulary, with the concatenated vectors of other embeddings."""
        if not isinstance(vocabulary, Vocabulary):
            raise TextError(f"vocabulary: expected a Vocabulary, got {type(vocabulary)}")
        tokens = vocabulary.idx_to_token
        parts = [
            nd.concat(each.idx_to_vec[:1], each.get_vecs_by_tokens(tokens[1:]), dim=0)
            if tokens[1:]
            else each.idx_to_vec[:1]
            for each in embeddings
        ]
        self._idx_to_vec = nd.concat(*parts, dim=1)
        self._vec_len = self._idx_to_vec.shape[1]
        self._token_to_idx = dict(vocabulary.token_to_idx)
        self._idx_to_token = list(tokens)
        self._unknown_token = vocabulary.unknown_token
        reserved = vocabulary.reserved_tokens
        self._reserved_tokens = None if reserved is None else list(reserved)

    def get_vecs_by_tokens(self, tokens, lower_case_backup=False):
        """Return the vectors of words.

        Parameters
        ----------
        tokens : str or list of str
        lower_case_backup : bool
            Look up unknown words in lower case.

        Returns
        -------
        NDArray
            Shape (vec_len,) for one word, (words, vec_len) for a list.
        """
        listed = tokens if isinstance(tokens, list) else [tokens]
        if lower_case_backup:
            listed = [t if t in self._token_to_idx else t.lower() for t in listed]
        indices = nd.array(self.to_indices(listed))
        vectors = nd.Embedding(indices, self._idx_to_vec, *self._idx_to_vec.shape)
        return vectors if isinstance(tokens, list) else vectors[0]

    def update_token_vectors(self, tokens, new_vectors):
        """Replace the vectors of words.

        Parameters
        ----------
        tokens : str or list of str
            Known words, or `unknown_token` itself.
        new_vectors : NDArray
            Shape (words, vec_len), or (vec_len,) for one word.

        Raises
        ------
        TextError
            If the shape differs.
        ValueError
            If a word is unknown.
        """
        tokens = tokens if isinstance(tokens, list) else [tokens]
        if not isinstance(new_vectors, nd.NDArray):
            raise TextError(f"new_vectors: expected an NDArray, got {type(new_vectors)}")
        if len(tokens) == 1 and new_vectors.ndim == 1:
            new_vectors = new_vectors.reshape((1, -1))
        if new_vectors.shape != (len(tokens), self._vec_len):
            raise TextError(
                f"new_vectors: expected shape {(len(tokens), self._vec_len)}, got "
                f"{new_vectors.shape}"
            )
        for token in tokens:
            if token not in self._token_to_idx:
                raise ValueError(
                    f"Token {token} is unknown. The vector of all unknown words is changed under "
                    f"the name {self._idx_to_token[UNKNOWN_IDX]}"
                )
        self._idx_to_vec[nd.array(self.to_indices(tokens))] = new_vectors

    @classmethod
    def _check_pretrained_file_names(cls, name):
        if name not in cls.pretrained_file_name_sha1:
            raise KeyError(
                f"Cannot find pretrained file {name} for token embedding {cls.__name__.lower()}. "
                f"There are: {', '.join(cls.pretrained_file_name_sha1)}"
            )


_register = registry.get_register_func(_TokenEmbedding, "token embedding")
create = registry.get_create_func(_TokenEmbedding, "token embedding")


def _vector(path, line, texts, others):
    """Parse the vector of a line, which must be as long as the first of `others`."""
    try:
        vector = np.array(texts, np.float32)
    except ValueError as error:
        raise TextError(f"{path}, line {line}: {error}") from None
    if others and len(vector) != len(others[0]):
        raise TextError(
            f"{path}, line {line}: a vector of {len(vector)} elements, the previous ones have "
            f"{len(others[0])}"
        )
    return vector


def register(embedding_cls):
    """Class decorator that registers an embedding under its lower-case class name.

    Parameters
    ----------
    embedding_cls : type
        The class.

    Returns
    -------
    type
        The same class.
    """
    return _register(embedding_cls)


def get_pretrained_file_names(embedding_name=None):
    """Return the names of downloadable embedding files.

    Parameters
    ----------
    embedding_name : str, optional
        ``'glove'``, ``'fasttext'``, or a registered name.

    Returns
    -------
    list of str, or dict of str to list of str
        A dict by embedding if no name is given.

    Raises
    ------
    KeyError
        If there is no such embedding.
    """
    names = {
        name: list(klass.pretrained_file_name_sha1)
        for name, klass in registry.get_registry(_TokenEmbedding).items()
    }
    if embedding_name is None:
        return names
    if embedding_name not in names:
        raise KeyError(f"Cannot find embedding {embedding_name}. There are: {', '.join(names)}")
    return names[embedding_name]


class _Published(_TokenEmbedding):
    """Published vectors, downloaded from MXNET_GLUON_REPO if missing."""

    def __init__(self, name, root, init_unknown_vec, vocabulary, **kwargs):
        self._check_pretrained_file_names(name)
        super().__init__(**kwargs)
        root = os.path.join(data_dir(), "embeddings") if root is None else root
        collection = type(self).__name__.lower()
        path = published_file(root, collection, name, self._archive_of(name))
        self._load(path, " ", init_unknown_vec, "utf8", vocabulary)


@register
class GloVe(_Published):
    """The GloVe vectors (Pennington, Socher and Manning, 2014).

    Parameters
    ----------
    pretrained_file_name : str
        One of ``get_pretrained_file_names('glove')``.
    embedding_root : str, optional
        Folder of files, by default ``embeddings`` in MXNET_HOME.
    init_unknown_vec : callable
        Creates the vector of unknown words from its ``shape``.
    vocabulary : Vocabulary, optional
        Words; by default those of the file.
    **kwargs
        Arguments of `Vocabulary`.
    """

    pretrained_archive_name_sha1 = archives("glove")
    pretrained_file_name_sha1 = files("glove")

    def __init__(
        self,
        pretrained_file_name="glove.840B.300d.txt",
        embedding_root=None,
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        super().__init__(
            pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs
        )

    @classmethod
    def _archive_of(cls, name):
        corpus = name.split(".")[1]
        return next(a for a in cls.pretrained_archive_name_sha1 if a.split(".")[1] == corpus)


@register
class FastText(_Published):
    """The fastText vectors (Bojanowski, Grave, Joulin and Mikolov, 2016); see `GloVe`."""

    pretrained_archive_name_sha1 = archives("fasttext")
    pretrained_file_name_sha1 = files("fasttext")

    def __init__(
        self,
        pretrained_file_name="wiki.simple.vec",
        embedding_root=None,
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        super().__init__(
            pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs
        )

    @classmethod
    def _archive_of(cls, name):
        return name.rpartition(".")[0] + ".zip"


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a text file with one word and its vector per line.

    Parameters
    ----------
    pretrained_file_path : str
        The file.
    elem_delim : str
        Delimiter of words and numbers.
    encoding : str
        The encoding of the file.
    init_unknown_vec : callable
        Creates the vector of unknown words from its ``shape``.
    vocabulary : Vocabulary, optional
        Words; by default those of the file.
    **kwargs
        Arguments of `Vocabulary`.

    Raises
    ------
    ValueError
        If there is no such file.
    TextError
        If a line is malformed.
    """

    def __init__(
        self,
        pretrained_file_path,
        elem_delim=" ",
        encoding="utf8",
        init_unknown_vec=nd.zeros,
        vocabulary=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._load(pretrained_file_path, elem_delim, init_unknown_vec, encoding, vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """The concatenated vectors of several embeddings, for the words of a vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
    token_embeddings : embedding or list of embeddings

    Raises
    ------
    TextError
        If an argument has another type.
    """

    def __init__(self, vocabulary, token_embeddings):
        super().__init__()
        listed = token_embeddings if isinstance(token_embeddings, list) else [token_embeddings]
        for each in listed:
            if not isinstance(each, _TokenEmbedding):
                raise TextError(f"token_embeddings: expected embeddings, got {type(each)}")
        self._take(vocabulary, listed)
