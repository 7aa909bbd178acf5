"""CRaQAn: question answering that needs coreference resolution across two or three sentences of a passage."""

from datasets import Features, Sequence, Value

# `Sequence(Value(...))` and `[{...}]` mean the same under datasets 2.21 to 5.2; `List` exists only since 4.0.
_SPAN = {
    "sentence_index": Value("int32"),
    "start": Value("int32"),  # from the start of the sentence, in characters
    "end": Value("int32"),
    "text": Value("string"),
}
_SENTENCE = {"text": Value("string"), "start": Value("int32"), "end": Value("int32")}  # from the start of section_text
_COREFERENCE = {"kind": Value("string"), "mention": _SPAN, "antecedent": _SPAN}
_STEP = {
    "head": Value("string"),
    "relation": Value("string"),
    "tail": Value("string"),
    "sentence_index": Value("int32"),
}
_CANDIDATE = {
    "question": Value("string"),
    "answer": Value("string"),
    "required_sentence_indices": Sequence(Value("int32")),
    "coreferences": [_COREFERENCE],
}
_PASSAGE = {
    "article_id": Value("string"),
    "article_title": Value("string"),
    "domain": Value("string"),
    "section_id": Value("string"),
    "section_path": Sequence(Value("string")),  # empty for the summary
    "section_text": Value("string"),
    "sentences": [_SENTENCE],
}
_VERDICT = {
    "reviewer": Value("string"),
    "is_quality": Value("bool"),
    "reason": Value("string"),
    "problems": Sequence(Value("string")),
}

FEATURES = {
    "default": Features(
        {
            "id": Value("string"),
            **_PASSAGE,
            **_CANDIDATE,
            "derivation": [_STEP],
            "kind": Value("string"),  # pronominal, nominal or mixed
            "distance": Value("int32"),  # from the first to the last required sentence
            "generator": Value("string"),  # who made it: "model:<name>" or "rules:<version>"
            "reviewed_by": Sequence(Value("string")),  # "checks", "model:<name>", "person:<pseudonym>"
            "human_reviews": Value("int32"),  # how many people judged it
        }
    ),
    "articles": Features(
        {
            "article_id": Value("string"),
            "article_title": Value("string"),
            "domain": Value("string"),
            "text": Value("string"),  # Markdown
            "sections": [
                {
                    "section_id": Value("string"),
                    "path": Sequence(Value("string")),
                    "start": Value("int32"),  # from the start of text, in characters
                    "end": Value("int32"),
                }
            ],
            "url": Value("string"),
            "license": Value("string"),
            "revision": Value("string"),
            "retrieved_at": Value("string"),
            "author": Value("string"),
        }
    ),
    "provenance": Features(
        {
            "id": Value("string"),
            "generator": Value("string"),
            "recipe": Value("string"),  # digest of prompts, models and code version
            "code_version": Value("string"),
            "segmenter": Value("string"),
            "rounds": [{"index": Value("int32"), **_CANDIDATE, "verdicts": [_VERDICT]}],
            "votes": [{**_VERDICT, "is_person": Value("bool"), "seconds": Value("float32")}],
            "proof": [{"context": Value("string"), "answer": Value("string"), "is_right": Value("bool")}],
            "prompt_tokens": Value("int64"),
            "completion_tokens": Value("int64"),
        }
    ),
    "rejected": Features(
        {
            "id": Value("string"),
            **_PASSAGE,
            **_CANDIDATE,
            "generator": Value("string"),
            "rejected_by": Sequence(Value("string")),
            "problems": Sequence(Value("string")),
            "reason": Value("string"),
        }
    ),
    "v1": Features(
        {
            "title": Value("string"),
            "article": Value("string"),
            "article_titles": Sequence(Value("string")),
            "article_sections": Sequence(Value("string")),
            "section": Value("string"),
            "section_index": Value("int64"),
            "section_sentences": Value("string"),  # JSON: [{"index": 0, "sentence": "..."}, ...]
            "question": Value("string"),
            "answer": Value("string"),
            "sentences_required": Sequence(Value("int64")),
            "url": Value("string"),
            "time_downloaded": Value("string"),
        }
    ),
}
