"""The infinitive of a verb as it stands in a text."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token


def base_form(verb: "Token") -> str:
    """The infinitive of a finite verb: spaCy's lemma, mended where it does not give back a regular form ("rated")."""
    lemma, form = verb.lemma_.lower(), verb.lower_
    if not form.endswith("ed") or form in _regular_past(lemma):
        return lemma
    return (
        next((b for b in (form[:-1], form[:-2], form[:-3]) if form in _regular_past(b)), lemma)
        if _looks_regular(lemma, form)
        else lemma
    )


def _looks_regular(lemma: str, form: str) -> bool:
    return form.startswith(lemma[:-1])


def _regular_past(base: str) -> tuple[str, ...]:
    """The regular past of `base`; both spellings where a final consonant may be doubled."""
    if base.endswith("e"):
        return (base + "d",)
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return (base[:-1] + "ied",)
    closed = len(base) > 2 and base[-1] not in "aeiouwxy" and base[-2] in "aeiou" and base[-3] not in "aeiou"
    if closed and sum(c in "aeiou" for c in base) == 1:
        return (base + base[-1] + "ed",)
    return (base + "ed", base + base[-1] + "ed") if closed else (base + "ed",)
