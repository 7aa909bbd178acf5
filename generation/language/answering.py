"""The answer of a question: how far it goes, and whether it stands alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from generation.language import clauses
from generation.language.asking_words import Wording
from generation.language.lexicon import noun_kind
from generation.language.mentions import Mention

if TYPE_CHECKING:
    from spacy.tokens import Token

_SAY_NOTHING = ("no", "none", "nothing", "many", "several", "some", "various", "few", "numerous")
"""First words of what answers nothing."""
MAX_ANSWER = 24


class Answering(Wording):
    """Cuts and judges what answers a question about one clause."""

    def _without_leaning(self, tokens: list[int], part: "Token") -> list[int]:
        """An answer without the relative clause or participle at its end that leans on what was said before."""
        if not clauses.leans(self.parse, tokens, tuple(self.writer.names)):
            return tokens
        for child in reversed(list(part.rights)):
            infinitive = child.dep_ == "acl" and any(c.lower_ == "to" for c in child.lefts)
            if child.dep_ not in ("relcl", "acl", "prep") or infinitive:
                break
            if child.dep_ == "relcl" and self.parse.words[child.left_edge.i - 1].text != ",":
                break  # "laws that gave public money to schools": which laws is told by nothing else
            if child.dep_ != "prep" or child.lower_ in ("on", "in", "with", "by", "at", "as"):
                cut = [i for i in tokens if i < child.left_edge.i]
                if self._says_enough(cut) and not clauses.leans(self.parse, cut):
                    return cut
        return tokens

    def _says_enough(self, cut: list[int]) -> bool:
        """ "a fund" and "small differences" say nothing without what belonged to them."""
        words = [self.parse.words[i] for i in cut]
        return len(words) > 3 or len(words) > 1 and any(w.pos_ in ("PROPN", "NUM") for w in words)

    def _without_date(self, tokens: list[int]) -> tuple[list[int], list[int]]:
        """An answer without the date at its end, which tells when and belongs to the question; and that date."""
        start = next((n for n in range(1, len(tokens)) if self._opens_date(tokens[n:])), len(tokens))
        return tokens[:start], tokens[start:]

    def _opens_date(self, rest: list[int]) -> bool:
        words = [self.parse.words[i] for i in rest]
        dated = all(w.ent_type_ == "DATE" or w.is_punct for w in words[1:])
        if words[0].head.pos_ in ("VERB", "AUX") and words[0].head != self.clause.verb:
            return False  # the date of a clause inside the answer
        return words[0].lower_ in ("in", "on") and len(words) > 1 and dated

    def _closed(self, tokens: list[int]) -> list[int]:
        """The tokens with what belongs to them right after: a closing quotation mark, the year of a law's name."""
        marks = sum(self.parse.words[i].text == '"' for i in tokens)
        following = tokens[-1] + 1 if tokens else 0
        if tokens and self._is_year_of_name(tokens):
            return [*tokens, following, following + 1]
        closing = marks % 2 == 1 and self.holds(tokens[-1]) and following < len(self.parse.words)
        return [*tokens, following] if closing and self.parse.words[following].text == '"' else tokens

    def _is_year_of_name(self, tokens: list[int]) -> bool:
        """ "the Freedom of Information Act, 2002": does the year of a law follow?"""
        doc, following = self.parse.words, tokens[-1] + 1
        if following + 1 >= len(doc) or not self.holds(following + 1):
            return False
        law = noun_kind(doc[tokens[-1]].lower_) == "law" and doc[tokens[-1]].text[:1].isupper()
        return law and doc[following].text == "," and doc[following + 1].shape_ == "dddd"

    def _is_answer(self, answer: list[int], asked: list[int], used: Sequence[Mention]) -> bool:
        """Is the answer in one piece, apart from the question, and does it stand alone?"""
        whole = bool(answer) and answer == list(range(answer[0], answer[-1] + 1))
        return whole and self._stands(answer, self._echoed(answer, used)) and not set(answer) & set(asked)

    def _echoed(self, answer: list[int], used: Sequence[Mention]) -> tuple[Mention, ...]:
        """Pronouns inside an answer that mean whom the question names ("What did Cuoco land?" "... of her life")."""
        said = {self.writer.names[m] for m in used}
        inner = (m for m in self.writer.names if m.form == "pronoun" and m.start > answer[0] and m.head in set(answer))
        return tuple(m for m in inner if self.writer.names[m] in said)

    def _stands(self, answer: list[int], echoed: tuple[Mention, ...] = ()) -> bool:
        """Does the answer stand alone: no pronoun but those `echoed`, not "the bill", not cut, not too long?"""
        doc = self.parse.words
        if doc[answer[0]].lower_ in _SAY_NOTHING or doc[answer[-1]].lower_ in ("whom", "which"):
            return False
        if len(answer) > MAX_ANSWER or clauses.leans(self.parse, answer, echoed) or not self._is_whole(answer):
            return False
        if (
            doc[answer[-1]].pos_ in ("ADP", "CCONJ", "DET", "SCONJ", "PART", "PUNCT")
            and doc[answer[-1]].text not in "\"”'%"
        ):
            return False
        if self._goes_on(answer[-1] + 1) or self._is_half_a_list(answer):
            return False
        if any(doc[i].tag_ == "NNS" and doc[i + 1].tag_ == "NNP" for i in answer[:-1]):
            return False  # "war on all Muggles and tortures Jacob": a verb taken for a noun
        bare = [m for m in self.mentions if m.form == "definite" and m.head in answer and m.bare and not m.modifiers]
        return not any(m.start <= answer[0] and m.end - 1 >= answer[-1] for m in bare) and not set(answer) & {
            i for m in self.writer.names if m not in echoed for i in range(m.start, m.end)
        }

    def _is_half_a_list(self, answer: list[int]) -> bool:
        """ "rates, approved mergers" of "fixed rates, approved mergers and decided": does a list go on behind it?"""
        doc, following = self.parse.words, answer[-1] + 1
        listed = any(doc[i].text == "," for i in answer) and not any(doc[i].lower_ in ("and", "or") for i in answer)
        following += following < len(doc) and doc[following].text == ","
        return listed and following < len(doc) and doc[following].lower_ in ("and", "or")

    def _goes_on(self, following: int) -> bool:
        """Does the list or the phrase of an answer go on at token `following` (", that it voted", "named Otis")?"""
        doc = self.parse.words
        if following + 1 >= self.parse.bounds[self.parse.sentence_of(self.clause.verb.i)][1]:
            return False
        if doc[following].tag_ == "VBN" and doc[following].lower_ in ("named", "called", "known", "titled"):
            return True
        if self._lists_more(following + (doc[following].text == ",")):
            return True
        return doc[following].text == "," and doc[following + 1].lower_ in ("that", "which", "rather")

    def _lists_more(self, following: int) -> bool:
        """ "and a slip of paper": is another thing joined to the answer?"""
        doc = self.parse.words
        if doc[following].lower_ not in ("and", "or", "&", "as") or following + 1 >= len(doc):
            return False
        behind = doc[following + 1]
        if behind.dep_ in ("nsubj", "nsubjpass"):
            return False  # a clause of its own: "came in 1893, and she stood first"
        return behind.pos_ in ("DET", "NOUN", "PROPN", "ADJ", "NUM", "PRON")

    def _is_whole(self, tokens: Sequence[int]) -> bool:
        """Are quotations and brackets closed, and is nothing cut out but what a comma or dash sets off?"""
        gaps = [a + 1 for a, b in zip(tokens, tokens[1:], strict=False) if b - a > 1]
        if any(self.parse.words[gap].text not in (",", "(", "–", "—", "-") for gap in gaps):
            return False
        if tokens and self._is_inside_a_word(tokens[-1]):
            return False
        text = "".join(self.parse.words[i].text for i in tokens)
        return text.count('"') % 2 == 0 and text.count("“") == text.count("”") and "(" not in text and ")" not in text

    def _is_inside_a_word(self, token: int) -> bool:
        """Does the text go on right after `token`, as in "160 km" of "160 km/h"?"""
        end = self.parse.bounds[self.parse.sentence_of(token)][1]
        if token + 1 >= end or self.parse.words[token].whitespace_:
            return False
        following = self.parse.words[token + 1]
        return not following.is_punct and following.tag_ != "POS" or following.text in ("/", "-", "°")
