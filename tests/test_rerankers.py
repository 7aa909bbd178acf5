"""The models of the extra [rerank], loaded for real from tiny ones that are made here; skipped without torch."""

import re

import pytest

from evaluation import evaluate
from evaluation.chunkers import make
from evaluation.chunking.late import TokensOfTransformer, whole
from evaluation.embedders import SentenceTransformer
from evaluation.examples import Document, Span
from evaluation.rerankers import CrossEncoder, MonoT5
from evaluation.retrieval import Tools, retriever_of
from generation.errors import UsageError
from tests.test_readers import SET

torch = pytest.importorskip("torch", reason="the extra [rerank] is not installed")
transformers = pytest.importorskip("transformers", reason="the extra [rerank] is not installed")

WORDS = "Query : Document Relevant true false ada built the mill bob lost it who".split()
TEXTS = ["Ada built the mill", "Bob lost it", "the mill " * 600]


@pytest.fixture(scope="module")
def tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "</s>", *dict.fromkeys(w.lower() for w in WORDS)]
    made = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", names.index("[CLS]")), ("[SEP]", names.index("[SEP]"))],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


@pytest.fixture(scope="module")
def t5(tokenizer, tmp_path_factory):
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    config = transformers.T5Config(vocab_size=len(tokenizer), decoder_start_token_id=0, **sizes)
    return saved(transformers.T5ForConditionalGeneration(config), tokenizer, tmp_path_factory.mktemp("t5"))


@pytest.fixture(scope="module")
def bert(tokenizer, tmp_path_factory):
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(tokenizer), num_labels=1, **sizes)
    return saved(transformers.BertForSequenceClassification(config), tokenizer, tmp_path_factory.mktemp("bert"))


def saved(model, tokenizer, folder):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_monot5_gives_the_log_probability_of_true_against_false(t5):
    scorer = MonoT5(t5)
    scores = scorer.score("Who built the mill", TEXTS)
    assert all(score < 0 for score in scores) and len(set(scores)) == 3
    tokenizer = transformers.AutoTokenizer.from_pretrained(t5)
    model = transformers.T5ForConditionalGeneration.from_pretrained(t5)
    asked = tokenizer("Query: Who built the mill Document: Ada built the mill Relevant:", return_tensors="pt")
    logits = model(input_ids=asked.input_ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
    pair = logits[[tokenizer.convert_tokens_to_ids(word) for word in ("true", "false")]]
    assert scores[0] == pytest.approx(float(torch.log_softmax(pair, 0)[0]), abs=1e-5)


def test_a_long_text_keeps_the_word_that_asks(t5):
    assert MonoT5(t5)._input("Who", TEXTS[2]).endswith(" Relevant:")
    assert len(MonoT5(t5)._tokenizer.encode(MonoT5(t5)._input("Who", TEXTS[2]))) <= 512


def test_cross_encoder_reranks(bert):
    index = retriever_of(f"bm25+cross-encoder:{bert}").index(TEXTS[:2] + ["Ada lost the mill"])
    hits = index.search(["Who built the mill, Ada"], 3)[0]
    assert {hit.index for hit in hits} == {0, 2}
    scores = CrossEncoder(bert).score("Who built the mill, Ada", [TEXTS[0], "Ada lost the mill"])
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True), abs=1e-5)


def test_sentence_transformers_embed_by_name(bert, tmp_path):
    vectors = SentenceTransformer(bert).embed(TEXTS[:2])
    assert vectors.shape == (2, 16)
    assert (vectors**2).sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert retriever_of(f"dense:st/{bert}", Tools(tmp_path)).index(TEXTS[:2]).search(["mill"], 1)[0]


def test_each_token_of_a_text_of_any_length_has_its_vector_and_its_place(bert):
    text = "  " + "Ada built the mill. Bob lost it! " * 300
    found = whole(text, TokensOfTransformer(bert))
    assert [text[a:b] for a, b in found.spans] == re.findall(r"\w+|[^\w\s]", text)
    assert found.vectors.shape == (len(found.spans), 16)


def test_a_late_vector_of_the_whole_text_is_the_models_own(bert):
    home = Document("d", "", TEXTS[0], (), (Span(0, len(TEXTS[0])),))
    chunker = make("late:sentences:1", tokens=TokensOfTransformer(bert))
    late = chunker.vectors(home, chunker(home))[0]
    own = TokensOfTransformer(bert)._loaded.encode(TEXTS[0], output_value="token_embeddings").numpy()[1:-1].mean(axis=0)
    assert late == pytest.approx(own / (own @ own) ** 0.5, abs=1e-5)


def test_late_chunks_are_evaluated_under_a_dense_retriever(bert, tmp_path):
    names = ["sentences:1", "late:sentences:1"]
    results = evaluate(SET, names, ["bm25", f"dense:st/{bert}"], out=tmp_path)
    assert len(results.retrieval) == 4
    again = evaluate(SET, names, ["bm25", f"dense:st/{bert}"], out=tmp_path)
    assert [c.rows for c in again.retrieval] == [c.rows for c in results.retrieval]


def test_a_model_that_pools_otherwise_is_refused(bert, tmp_path):
    from sentence_transformers import SentenceTransformer as Loaded
    from sentence_transformers.models import Pooling, Transformer

    words = Transformer(bert)
    Loaded(modules=[words, Pooling(16, pooling_mode="cls")]).save(str(tmp_path / "cls"))
    with pytest.raises(UsageError, match="by the mean"):
        TokensOfTransformer(str(tmp_path / "cls"))


def test_a_model_that_is_not_there_is_told(tmp_path):
    for name in ("bm25+monot5", "bm25+cross-encoder", "dense:st/"):
        sign = "" if name.endswith("/") else ":"
        with pytest.raises(UsageError, match="could not be loaded"):
            retriever_of(f"{name}{sign}{tmp_path / 'nowhere'}")
