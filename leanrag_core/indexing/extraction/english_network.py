"""The networks of the English pipeline, computed for all words of a batch at once.

spaCy's own code gives the same vectors and names. Here a word's features are looked up once a batch, nothing that only
training needs is kept, and names need no search word by word: outside a name, what the recogniser decides about a word
depends on that word alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

_EPSILON = 1e-8  # of thinc's layer norm


class Encoder:
    """Turns documents into word vectors with the weights of a spaCy "Tok2Vec": hash embeddings, then windows."""

    def __init__(self, model: Any) -> None:
        """Take the weights. model: thinc's, of the architecture spacy.Tok2Vec.v2 with its usual two parts."""
        features, _, tables, mixture, _ = model.get_ref("embed").layers
        self._columns: list[str] = features.attrs["columns"]
        self._tables, self._mixture = tables.layers[0], mixture.layers[0]
        encode = model.get_ref("encode")
        self._pad: int = encode.attrs["pad"]
        nodes = list(encode.walk())
        self._ops = encode.ops
        self._window = next(node.attrs["window_size"] for node in nodes if node.name == "expand_window")
        self._maxouts = [_Maxout(node) for node in nodes if node.name == "maxout"]
        self._norms = [(node.get_param("G"), node.get_param("b")) for node in nodes if node.name == "layernorm"]

    def vectors(self, docs: Sequence[Any]) -> np.ndarray:
        """Return the vectors of all words, (n, width) float32, in the order of the documents.

        Documents that are encoded together change the last bit of a sum at most.
        """
        features = np.concatenate([doc.to_array(self._columns).reshape(-1, len(self._columns)) for doc in docs])
        words, word_of = np.unique(features, axis=0, return_inverse=True)
        embedded = self._mixture.predict(self._tables.predict(words))
        # Zeros between documents keep their windows apart.
        gaps = np.repeat(np.arange(1, len(docs) + 1) * self._pad, [len(doc) for doc in docs])
        places = np.arange(len(features)) + gaps
        hidden = np.zeros((len(features) + self._pad * (len(docs) + 1), embedded.shape[1]), dtype=np.float32)
        hidden[places] = embedded[word_of.ravel()]
        for maxout, (scale, shift) in zip(self._maxouts, self._norms, strict=True):
            change = maxout(self._ops.seq2col(hidden, self._window))
            change -= change.mean(axis=1, keepdims=True)
            spread = (change * change).sum(axis=1, keepdims=True) / np.float32(change.shape[1]) + np.float32(_EPSILON)
            change *= spread**-0.5
            change *= scale
            change += shift
            hidden += change
        return np.asarray(hidden[places])


class _Maxout:
    """The largest of some linear pieces for each output."""

    def __init__(self, node: Any) -> None:
        weights = node.get_param("W")
        self._pieces: tuple[int, int] = weights.shape[:2]
        self._weights = weights.reshape(-1, weights.shape[2]).T
        self._bias = node.get_param("b").ravel()
        self._ops = node.ops

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        """Return the outputs, (n, outputs) float32. inputs: (n, width) float32."""
        products = inputs @ self._weights
        products += self._bias
        return np.asarray(self._ops.maxout(products.reshape(-1, *self._pieces))[0])


def with_vectors(model: Any) -> Any:
    """Return a thinc model that gives the vectors of a spaCy network "Tok2Vec" by Encoder. It cannot be trained."""
    from thinc.api import Model

    encoder = Encoder(model)

    def forward(_: Any, docs: Sequence[Any], is_train: bool) -> tuple[list[np.ndarray], Any]:
        """Return the vectors of each document, (n_words, width) float32, and no backward pass."""
        ends = np.cumsum([len(doc) for doc in docs])
        return np.split(encoder.vectors(docs), ends[:-1]), None

    return Model("vectors_of_words", forward, dims={"nO": model.get_dim("nO")}, ops=model.ops)


class NameRecogniser:
    """Sets the entities of documents as spaCy's greedy recogniser with the same weights does.

    That recogniser goes from word to word and decides whether a name begins (B), goes on (I), ends (L), has this word
    alone (U) or is not there (O). Its features are the word and, inside a name, the name's first word and the word
    before.
    """

    def __init__(self, recogniser: Any) -> None:
        """Take the weights of the pipe, which has no beam."""
        encoding, lower, upper = recogniser.model.layers
        self._encoder = Encoder(next(node for node in encoding.walk() if node.has_ref("encode")))
        linear = encoding.layers[-1]
        self._narrow, self._narrow_bias = linear.get_param("W").T, linear.get_param("b")
        weights = lower.get_param("W")  # (features, outputs, pieces, inputs)
        n_features, self._hiddens, self._pieces, _ = weights.shape
        self._of_feature = [part.reshape(-1, part.shape[-1]).T for part in weights]
        self._missing = lower.get_param("pad").reshape(n_features, -1)
        self._bias = lower.get_param("b").ravel()
        self._scores, self._scores_bias = upper.get_param("W").T, upper.get_param("b")
        moves = [str(recogniser.moves.get_class_name(place)) for place in range(recogniser.moves.n_moves)]
        self._kinds = np.array([move[0] for move in moves])
        self._labels = [move[2:] for move in moves]
        place_of = {move: place for place, move in enumerate(moves)}
        self._goes_on = np.array([place_of.get(f"I-{label}", -1) for label in self._labels])
        self._ends = np.array([place_of.get(f"L-{label}", -1) for label in self._labels])
        labelled = np.array([bool(label) for label in self._labels])
        self._begins = (self._kinds == "B") & labelled
        self._is_unit = (self._kinds == "U") & labelled
        self._outside = self._kinds == "O"

    def __call__(self, doc: Any) -> Any:
        """Set the entities of a document and return it."""
        return next(self.pipe([doc]))

    def pipe(self, docs: Iterable[Any], *, batch_size: int = 256) -> Iterator[Any]:
        """Yield the documents with their entities set. batch_size: documents at a time."""
        rest = iter(docs)
        while batch := list(islice(rest, batch_size)):
            self._recognise([doc for doc in batch if len(doc)])
            yield from batch

    def _recognise(self, docs: Sequence[Any]) -> None:
        from spacy.tokens import Span

        if not docs:
            return
        words = self._encoder.vectors(docs) @ self._narrow + self._narrow_bias
        offsets = [0, *np.cumsum([len(doc) for doc in docs]).tolist()]
        attributes = np.concatenate([doc.to_array(["SENT_START", "IS_SPACE"]) for doc in docs])
        # Whether a name may go on behind the word: not over the end of a sentence or of the document.
        joined = np.append(attributes[1:, 0] != 1, False)
        joined[np.array(offsets[1:]) - 1] = False
        chosen = self._outside_names(words, joined, attributes[:, 1] == 1)
        opening = np.flatnonzero(self._begins[chosen])
        end_of = dict(zip(opening.tolist(), self._end_of_names(words, joined, opening, chosen[opening]), strict=True))
        named = np.flatnonzero(~self._outside[chosen]).tolist()
        starts = iter([*named, len(words)])
        start = next(starts)
        for doc, (first, last) in zip(docs, pairwise(offsets), strict=True):
            entities = []
            free = first
            while start < last:
                if start >= free:
                    free = end_of.get(start, start + 1)
                    label = self._labels[chosen[start]]
                    entities.append(Span(doc, start - first, free - first, label=label))
                start = next(starts)
            doc.set_ents(entities)

    def _outside_names(self, words: np.ndarray, joined: np.ndarray, space: np.ndarray) -> np.ndarray:
        """Return (n_words,) int, the best move at each word where no name is open. words: (n_words, features). joined:
        (n_words,) bool, whether a name may go on behind the word. space: (n_words,) bool, whether it is white space."""
        sums = words @ self._of_feature[0]
        sums += self._missing[1]
        sums += self._missing[2]
        scores = self._scored(sums)
        scores[:, ~(self._begins | self._is_unit | self._outside)] = -np.inf
        scores[np.ix_(~joined | space, self._begins)] = -np.inf
        scores[np.ix_(space, self._is_unit)] = -np.inf
        return np.asarray(scores.argmax(axis=1))

    def _end_of_names(self, words: np.ndarray, joined: np.ndarray, first: np.ndarray, moves: np.ndarray) -> list[int]:
        """Return where each name ends, the word after it. words, joined: see _outside_names(). first, moves: (names,)
        int, their first words and the moves that opened them."""
        ends = np.zeros(len(first), dtype=np.int64)
        opened = words[first] @ self._of_feature[1]
        open_names, place = np.arange(len(first)), first + 1
        while len(open_names):
            sums = words[place] @ self._of_feature[0]
            sums += opened[open_names]
            sums += words[place - 1] @ self._of_feature[2]
            scores = self._scored(sums)
            row = np.arange(len(open_names))
            move = moves[open_names]
            goes_on = joined[place] & (scores[row, self._goes_on[move]] >= scores[row, self._ends[move]])
            ends[open_names[~goes_on]] = place[~goes_on] + 1
            open_names, place = open_names[goes_on], place[goes_on] + 1
        return [int(end) for end in ends]

    def _scored(self, sums: np.ndarray) -> np.ndarray:
        """Return (n, n_moves) scores. sums: (n, hidden * pieces) of the features."""
        sums += self._bias
        hidden = sums.reshape(-1, self._hiddens, self._pieces).max(axis=2)
        return np.asarray(hidden @ self._scores + self._scores_bias)
