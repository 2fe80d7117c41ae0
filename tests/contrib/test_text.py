"""Vocabularies and word vectors."""

import collections
import hashlib
import zipfile

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.contrib import text
from mxcy.contrib.text import embedding as embeddings
from mxcy.contrib.text.vocab import Vocabulary


def test_count_tokens():
    counted = text.utils.count_tokens_from_str(
        " Life is great ! \n life is good . \n", to_lower=True
    )
    assert counted == {"life": 2, "is": 2, "great": 1, "!": 1, "good": 1, ".": 1}
    again = text.utils.count_tokens_from_str("*is*Life*\n", r"\*", counter_to_update=counted)
    assert again is counted and counted["is"] == 3 and counted["Life"] == 1


COUNTER = collections.Counter(["a", "b", "b", "c", "c", "c", "some_word$"])


def test_vocabulary():
    vocab = Vocabulary(COUNTER, reserved_tokens=["<pad>", "b"])
    assert vocab.idx_to_token == ["<unk>", "<pad>", "b", "c", "a", "some_word$"]
    assert len(vocab) == 6 and vocab.token_to_idx["a"] == 4
    assert vocab.unknown_token == "<unk>" and vocab.reserved_tokens == ["<pad>", "b"]
    assert vocab.to_indices("c") == 3 and vocab.to_indices(["c", "?"]) == [3, 0]
    assert vocab.to_tokens(3) == "c" and vocab.to_tokens([0, 5]) == ["<unk>", "some_word$"]
    assert Vocabulary(COUNTER, most_freq_count=2).idx_to_token == ["<unk>", "c", "b"]
    assert Vocabulary(COUNTER, min_freq=2, unknown_token="?").idx_to_token == ["?", "c", "b"]
    assert Vocabulary().idx_to_token == ["<unk>"] and Vocabulary().reserved_tokens is None
    assert Vocabulary(COUNTER, 1, reserved_tokens=["c"]).idx_to_token == ["<unk>", "c", "b"]


def test_vocabulary_refusals():
    with pytest.raises(MXNetError, match="min_freq must be positive"):
        Vocabulary(COUNTER, min_freq=0)
    with pytest.raises(MXNetError, match="reserved_tokens must differ"):
        Vocabulary(COUNTER, reserved_tokens=["b", "b"])
    with pytest.raises(MXNetError, match="unknown_token"):
        Vocabulary(COUNTER, reserved_tokens=["<unk>"])
    with pytest.raises(MXNetError, match="Counter"):
        Vocabulary(["a", "b"])
    for index in (2, "a", [0, 2]):
        with pytest.raises(ValueError, match="Token index"):
            Vocabulary(collections.Counter("a")).to_tokens(index)


@pytest.fixture
def vectors(tmp_path):
    """A file with vectors of three words."""
    path = tmp_path / "vectors.txt"
    path.write_text("a 0.1 0.2 0.3\nb 1.0 2 3\nC 7 8 9\n")
    return str(path)


def test_custom_embedding(vectors):
    embedding = embeddings.CustomEmbedding(
        vectors, init_unknown_vec=mx.nd.ones, reserved_tokens=["<p>"]
    )
    assert embedding.idx_to_token == ["<unk>", "<p>", "a", "b", "C"] and embedding.vec_len == 3
    np.testing.assert_allclose(
        embedding.idx_to_vec.asnumpy(),
        [[1, 1, 1], [0, 0, 0], [0.1, 0.2, 0.3], [1, 2, 3], [7, 8, 9]],
        rtol=1e-6,
    )
    assert embedding.get_vecs_by_tokens("b").asnumpy().tolist() == [1, 2, 3]
    assert embedding.get_vecs_by_tokens(["B", "?"]).asnumpy().tolist() == [[1, 1, 1]] * 2
    actual = embedding.get_vecs_by_tokens(["B", "C"], lower_case_backup=True)
    assert actual.asnumpy().tolist() == [[1, 2, 3], [7, 8, 9]]
    embedding.update_token_vectors(["b", "<unk>"], mx.nd.array([[1, 1, 2], [3, 3, 4]]))
    embedding.update_token_vectors("C", mx.nd.array([5, 5, 6]))
    assert embedding.idx_to_vec[3:].asnumpy().tolist() == [[1, 1, 2], [5, 5, 6]]
    assert embedding.get_vecs_by_tokens("?").asnumpy().tolist() == [3, 3, 4]


def test_embedding_of_a_vocabulary(vectors, tmp_path):
    vocab = Vocabulary(collections.Counter(["b", "b", "new"]), reserved_tokens=["<p>"])
    embedding = embeddings.CustomEmbedding(vectors, vocabulary=vocab)
    assert embedding.idx_to_token == ["<unk>", "<p>", "b", "new"]
    assert embedding.reserved_tokens == ["<p>"]
    assert embedding.idx_to_vec.asnumpy().tolist() == [[0] * 3, [0] * 3, [1, 2, 3], [0] * 3]
    other = tmp_path / "other.txt"
    other.write_text("<unk>,9,9\nnew,5,6\n")
    both = embeddings.CompositeEmbedding(
        vocab, [embedding, embeddings.CustomEmbedding(str(other), elem_delim=",")]
    )
    assert both.vec_len == 5
    assert both.idx_to_vec.asnumpy().tolist() == [
        [0, 0, 0, 9, 9],
        [0, 0, 0, 9, 9],
        [1, 2, 3, 9, 9],
        [0, 0, 0, 5, 6],
    ]
    lone = embeddings.CompositeEmbedding(Vocabulary(), embedding)
    assert lone.idx_to_vec.shape == (1, 3)


def test_headers_and_repeated_words(tmp_path):
    path = tmp_path / "vectors.vec"
    path.write_text("3 3\na 1 2 3\na 4 5 6\n")
    with pytest.warns(UserWarning) as told:
        embedding = embeddings.CustomEmbedding(str(path))
    assert "line 1" in str(told[0].message) and "line 3" in str(told[1].message)
    assert [one.filename for one in told] == [__file__] * 2
    assert embedding.idx_to_vec.asnumpy().tolist() == [[0] * 3, [1, 2, 3]]


def test_embedding_refusals(vectors, tmp_path):
    with pytest.raises(ValueError, match="no file of word vectors"):
        embeddings.CustomEmbedding(str(tmp_path / "none"))
    for content, message in (
        ("a\n", "line 1"),
        ("a 1 2\nb 1 2 3\n", "line 2"),
        ("\n", "line 1"),
        ("", "no word"),
    ):
        path = tmp_path / "bad"
        path.write_text(content)
        with pytest.raises(MXNetError, match=message):
            embeddings.CustomEmbedding(str(path))
    embedding = embeddings.CustomEmbedding(vectors)
    with pytest.raises(MXNetError, match=r"expected shape \(1, 3\), got \(1, 2\)"):
        embedding.update_token_vectors("a", mx.nd.zeros(2))
    with pytest.raises(MXNetError, match="expected an NDArray"):
        embedding.update_token_vectors("a", [1, 2, 3])
    with pytest.raises(ValueError, match="Token new is unknown"):
        embedding.update_token_vectors("new", mx.nd.zeros(3))
    with pytest.raises(MXNetError, match="expected a Vocabulary"):
        embeddings.CustomEmbedding(vectors, vocabulary=["a"])
    with pytest.raises(MXNetError, match="expected embeddings"):
        embeddings.CompositeEmbedding(Vocabulary(), [embedding, "made"])


def test_names_of_published_files():
    names = embeddings.get_pretrained_file_names()
    assert {"glove", "fasttext"} <= set(names)
    assert "glove.6B.50d.txt" in embeddings.get_pretrained_file_names("glove")
    assert len(embeddings.get_pretrained_file_names("fasttext")) == 327
    with pytest.raises(KeyError, match="Cannot find embedding word2vec"):
        embeddings.get_pretrained_file_names("word2vec")
    with pytest.raises(KeyError, match="Cannot find pretrained file glove.txt"):
        embeddings.create("glove", pretrained_file_name="glove.txt")
    with pytest.raises(KeyError, match="for token embedding fasttext"):
        embeddings.FastText(pretrained_file_name="glove.6B.50d.txt")


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder with an archive of vectors under the name of a published one."""
    folder = tmp_path / "mirror" / "gluon" / "embeddings" / "fasttext"
    folder.mkdir(parents=True)
    content = b"2 2\nred 1 2\nblue 3 4\n"
    with zipfile.ZipFile(folder / "wiki.simple.zip", "w") as archive:
        archive.writestr("wiki.simple.vec", content)
    packed = (folder / "wiki.simple.zip").read_bytes()
    shown = text.published
    monkeypatch.setitem(
        shown.files("fasttext"), "wiki.simple.vec", hashlib.sha1(content).hexdigest()
    )
    monkeypatch.setitem(
        shown.archives("fasttext"), "wiki.simple.zip", hashlib.sha1(packed).hexdigest()
    )
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "mirror"))
    return folder


def test_published_vectors(mirror, tmp_path):
    with pytest.warns(UserWarning, match="header"):
        made = embeddings.create("fasttext")
    assert made.idx_to_vec.asnumpy().tolist() == [[0, 0], [1, 2], [3, 4]]
    assert (tmp_path / "home" / "embeddings" / "fasttext" / "wiki.simple.vec").exists()
    (mirror / "wiki.simple.zip").unlink()
    with pytest.warns(UserWarning, match="header"):
        assert embeddings.FastText().vec_len == 2  # it is cached
    with pytest.raises(MXNetError, match="MXNET_GLUON_REPO"):
        embeddings.FastText(embedding_root=str(tmp_path / "elsewhere"))


def test_registered_embedding_classes():
    @embeddings.register
    class Colours(embeddings._TokenEmbedding):
        pretrained_file_name_sha1 = {"colours.txt": ""}

        def __init__(self, number):
            super().__init__()
            self.number = number

    assert embeddings.create("colours", number=3).number == 3
    assert embeddings.get_pretrained_file_names("colours") == ["colours.txt"]


def test_refusals_are_assertions_as_well():
    """MXNet asserts here, so programs catch AssertionError."""
    for kwargs in ({"min_freq": 0}, {"reserved_tokens": ["b", "b"]}):
        with pytest.raises(AssertionError):
            Vocabulary(COUNTER, **kwargs)


def test_arrays_follow_numpy_semantics(vectors):
    with mx.util.np_shape(True), mx.util.np_array(True):
        embedding = embeddings.CustomEmbedding(str(vectors))
        first = embedding.idx_to_token[1]
        embedding.update_token_vectors(first, mx.np.ones(embedding.vec_len) * 7)
        looked_up = embedding.get_vecs_by_tokens([first, "unknown word"])
    assert type(embedding.idx_to_vec) is type(looked_up) is mx.np.ndarray
    assert (looked_up[0] == 7).all()
