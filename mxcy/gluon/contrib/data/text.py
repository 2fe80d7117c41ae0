"""WikiText, language-model data sets from Wikipedia articles (Merity et al., 2016)."""

import os
import zipfile

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.base import MXNetError
from mxcy.contrib import text
from mxcy.gluon.data.dataset import Dataset
from mxcy.gluon.data.vision.files import folder_of, published
from mxcy.gluon.utils import check_sha1

__all__ = ["WikiText2", "WikiText103"]

__dir__ = listing(__name__)

END = "<eos>"


class _WikiText(Dataset):
    """Base class of both sizes; `_files` lists the segments' names and SHA-1."""

    _collection, _archive, _files = None, None, None

    def __init__(self, root=None, segment="train", vocab=None, seq_len=35):
        if segment not in self._files:
            raise ValueError(f"segment must be one of {', '.join(self._files)}, got {segment!r}")
        path = self._find(folder_of(root, self._collection), *self._files[segment])
        content = path.read_text(encoding="utf-8")
        self._counter = None
        self._vocabulary = vocab
        if vocab is None:
            self._counter = text.utils.count_tokens_from_str(content)
            self._vocabulary = text.vocab.Vocabulary(counter=self._counter, reserved_tokens=[END])
        lines = filter(None, (line.split() for line in content.splitlines()))
        words = [word for line in lines for word in (*line, END)]
        numbers = np.array(self._vocabulary.to_indices(words), "int32")
        count = (len(numbers) - 1) // seq_len * seq_len
        self._data = nd.array(numbers[:count].reshape(-1, seq_len), dtype="int32")
        self._label = nd.array(numbers[1 : count + 1].reshape(-1, seq_len), dtype="int32")

    def _find(self, folder, name, sha1):
        """Return the file of a segment, extracting it from the published archive if needed."""
        path = folder / name
        if path.exists() and check_sha1(path, sha1):
            return path
        try:
            with zipfile.ZipFile(published(folder, self._collection, *self._archive)) as archive:
                for member in archive.infolist():
                    member.filename = os.path.basename(member.filename)
                    if member.filename:
                        archive.extract(member, folder)
        except MXNetError:
            if not path.exists():
                raise
        except zipfile.BadZipFile as error:
            raise MXNetError(f"{folder / self._archive[0]} is not an archive: {error}") from error
        if not path.exists():
            raise MXNetError(f"{folder / self._archive[0]} does not contain {name}")
        return path

    @property
    def vocabulary(self):
        """Vocabulary: the words and their indices."""
        return self._vocabulary

    @property
    def frequencies(self):
        """collections.Counter or None: word counts; None if `vocab` was given."""
        return self._counter

    def __getitem__(self, idx):
        return self._data[idx], self._label[idx]

    def __len__(self):
        return len(self._label)


class WikiText2(_WikiText):
    """WikiText-2: two million words in fixed-length sequences, each with its next words as labels.

    An existing file is used unchecked; otherwise it is downloaded from MXNET_GLUON_REPO.

    Parameters
    ----------
    root : str, optional
        Folder, by default ``datasets/wikitext-2`` in MXNET_HOME.
    segment : {'train', 'validation', 'test'}
        Part of the data set.
    vocab : mxcy.contrib.text.vocab.Vocabulary, optional
        Word indices; by default a vocabulary of all words of the segment.
    seq_len : int
        Number of words per sequence.

    Raises
    ------
    MXNetError
        If the file is missing and cannot be downloaded.
    """

    _collection = "wikitext-2"
    _archive = "wikitext-2-v1.zip", "3c914d17d80b1459be871a5039ac23e752a53cbe"
    _files = {
        "train": ("wiki.train.tokens", "863f29c46ef9d167fff4940ec821195882fe29d1"),
        "validation": ("wiki.valid.tokens", "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422"),
        "test": ("wiki.test.tokens", "c7b8ce0aa086fb34dab808c5c49224211eb2b172"),
    }


class WikiText103(_WikiText):
    """WikiText-103: a hundred million words, in the format of `WikiText2`.

    An existing file is used unchecked; otherwise it is downloaded from MXNET_GLUON_REPO.

    Parameters
    ----------
    root : str, optional
        Folder, by default ``datasets/wikitext-103`` in MXNET_HOME.
    segment, vocab, seq_len
        See `WikiText2`.

    Raises
    ------
    MXNetError
        If the file is missing and cannot be downloaded.
    """

    _collection = "wikitext-103"
    _archive = "wikitext-103-v1.zip", "0aec09a7537b58d4bb65362fee27650eeaba625a"
    _files = {
        "train": ("wiki.train.tokens", "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211"),
        "validation": ("wiki.valid.tokens", "c326ac59dc587676d58c422eb8a03e119582f92b"),
        "test": ("wiki.test.tokens", "8a5befc548865cec54ed4273cf87dbbad60d1e47"),
    }
