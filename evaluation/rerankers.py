"""Models that read question and text together and say how well they fit: monoT5 and cross-encoders.

Both need the extra [rerank], which brings torch. A model is named as on the Hub, or by its folder.
"""

from collections.abc import Sequence

from evaluation.embedders import missing
from generation.errors import UsageError

MONOT5 = "castorini/monot5-base-msmarco"
"""The paper takes the one with 3 billion parameters, castorini/monot5-3b-msmarco-10k, which wants a GPU."""
CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L-6-v2"
BATCH = 16
MAX_TOKENS = 512


class CrossEncoder:
    """A cross-encoder of the package sentence-transformers; the score is the model's own."""

    def __init__(self, model: str = CROSS_ENCODER) -> None:
        self.model = model
        try:
            from sentence_transformers import CrossEncoder as Loaded
        except ImportError as error:
            raise missing("sentence-transformers", "rerank") from error
        try:
            self._loaded = Loaded(model, max_length=MAX_TOKENS)
        except (OSError, ValueError) as error:
            raise _not_loaded(model, error) from error

    @property
    def name(self) -> str:
        return f"cross-encoder:{self.model}"

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        pairs = [(question, text) for text in texts]
        return [float(s) for s in self._loaded.predict(pairs, batch_size=BATCH, show_progress_bar=False)]


class MonoT5:
    """monoT5: the log-probability of "true" against "false" as the first word after "Query: ... Relevant:".

    Source: Nogueira et al. 2020; Pereira et al. 2022 (Visconde), section 3.
    """

    def __init__(self, model: str = MONOT5) -> None:
        self.model = model
        try:
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        except ImportError as error:
            raise missing("torch or transformers", "rerank") from error
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model)
            self._model = AutoModelForSeq2SeqLM.from_pretrained(model).eval().to(self._device)
        except (OSError, ValueError) as error:
            raise _not_loaded(model, error) from error
        words = [self._tokenizer.encode(word, add_special_tokens=False) for word in ("true", "false")]
        self._words = [tokens[0] for tokens in words]

    @property
    def name(self) -> str:
        return f"monot5:{self.model}"

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        scores: list[float] = []
        for at in range(0, len(texts), BATCH):
            scores += self._batch(question, texts[at : at + BATCH])
        return scores

    def _batch(self, question: str, texts: Sequence[str]) -> list[float]:
        import torch

        asked = [self._input(question, text) for text in texts]
        given = self._tokenizer(asked, return_tensors="pt", padding=True, truncation=True, max_length=MAX_TOKENS)
        start = torch.full((len(asked), 1), self._model.config.decoder_start_token_id, device=self._device)
        with torch.no_grad():
            logits = self._model(**given.to(self._device), decoder_input_ids=start).logits[:, 0, self._words]
        return [float(p) for p in torch.log_softmax(logits.float(), dim=1)[:, 0]]

    def _input(self, question: str, text: str) -> str:
        """The model's form, a long text cut so that "Relevant:" at the end stays."""
        spare = MAX_TOKENS - len(self._tokenizer.encode(f"Query: {question} Document: Relevant:")) - 8
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        if len(tokens) > spare:
            text = self._tokenizer.decode(tokens[: max(1, spare)], skip_special_tokens=True)
        return f"Query: {question} Document: {text} Relevant:"


def _not_loaded(model: str, error: Exception) -> UsageError:
    first = (str(error).splitlines() or [""])[0].rstrip(".")
    return UsageError(f"The reranker {model} could not be loaded: {first[:300]}.")
