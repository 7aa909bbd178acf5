"""Checks of the evidence: do the required sentences, all of them and no others, hold what question and answer say?"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from generation.checking import terms, wording
from generation.checking.case import Case, Certainty, Problem
from generation.language.lexicon import TITLES, noun_kind

if TYPE_CHECKING:
    from spacy.tokens import Token

SUPPORTED = 0.75
UNSUPPORTED = 0.5
"""Shares of the answer's words in the required sentences: below the second it is certainly not from them."""
SHOWN = 80
"""Characters of an answer that a reason repeats."""
OPENING = 5
"""Words in which a question says what kind of thing it wants: "For what kind of action"."""
FAR_SPREAD = 3
"""A word that so many other sentences have does not tell where to look."""


def answer_supported(case: Case) -> Iterator[Problem]:
    """The answer is found in the required sentences: as it stands, or all numbers and names and most words."""
    name = "answer_supported"
    if case.holding(case.indices):
        return
    answer = terms.content(case.candidate.answer)
    absent = [s for s in answer if s not in case.required_stems]
    elsewhere = case.holding(case.others)
    if elsewhere and (absent or not answer):
        reason = f"The answer stands in sentence {elsewhere[0]}, which is not among the required sentences."
        yield Problem("missing_sentences", name, reason)
        return
    numbers = [s for s in absent if s[0].isdigit()]
    names = [w for w in _name_words(case.candidate.answer) if terms.stem(w) in absent]
    if numbers or names:
        word = names[0] if names else next(w for w in case.answer_words if terms.stem(w) == numbers[0])
        found = terms.written(case.candidate.answer, word)
        yield _unsupported(case, f'"{found}" in the answer stands in none of the required sentences')
    elif answer and len(answer) - len(absent) < UNSUPPORTED * len(answer):
        yield _unsupported(case, _not_there(case))
    elif negation := _added_negation(case):
        reason = f'The required sentences say the answer without "{negation}"; answer as they do.'
        yield Problem("wrong_information", name, reason)
    elif answer and len(answer) - len(absent) < SUPPORTED * len(answer):
        words = (w for s in absent for w in case.answer_words if terms.stem(w) == s)
        which = ", ".join(dict.fromkeys(f'"{terms.written(case.candidate.answer, w)}"' for w in words))
        reason = f"No required sentence has {which} of the answer; answer in their words."
        yield Problem("wrong_information", name, reason, "unsure")
    elif not answer and not set(case.answer_words) <= {w for i in case.indices for w in terms.words(case.sentences[i])}:
        yield _unsupported(case, _not_there(case))


def _not_there(case: Case) -> str:
    answer = case.candidate.answer.strip()
    return f'The answer "{answer if len(answer) <= SHOWN else answer[:SHOWN] + "..."}" is not in the required sentences'


_NEGATIONS = frozenset("not never no cannot without nor neither".split())


def _added_negation(case: Case) -> str:
    """A negation that no required sentence has, and without which the answer would stand in one word for word."""
    negations = [w for w in case.answer_words if w in _NEGATIONS]
    rest = [w for w in case.answer_words if w not in _NEGATIONS]
    if not negations or not rest or any(_NEGATIONS & set(terms.words(case.sentences[i])) for i in case.indices):
        return ""
    return negations[0] if any(terms.contains(terms.words(case.sentences[i]), rest) for i in case.indices) else ""


def _unsupported(case: Case, what: str) -> Problem:
    return Problem(
        "wrong_information", "answer_supported", f"{what}; take it from them or add the sentence that has it."
    )


def _name_words(text: str) -> list[str]:
    return [w for run in terms.names(text) for w in terms.words(" ".join(run)) if w not in TITLES]


_LEFT = frozenset(
    "det amod compound nmod poss quantmod advmod aux auxpass neg mark nsubj nsubjpass predet case".split()
)
_FUNCTION_TAGS = frozenset("DT IN CC TO WDT WP WP$ PRP$ PDT MD POS".split())


def answer_whole(case: Case) -> Iterator[Problem]:
    """The answer is not cut off in the middle of a phrase of its sentence."""
    if case.candidate.answer.rstrip().endswith((",", ";", ":")):
        reason = f'The answer breaks off at "{case.candidate.answer.split()[-1]}"; give the whole phrase.'
        yield Problem("incomplete_answer", "answer_whole", reason)
        return
    last = _last_token(case)
    following = last.nbor() if last is not None and last.i + 1 < len(last.doc) else None
    if last is None or following is None or following.is_punct or following.is_sent_start:
        return
    if _ends_joined_name(last):
        return
    opening = map(terms.stem, terms.words(case.candidate.question)[:OPENING])
    if last.head.i > last.i and terms.stem(last.head.lower_) in opening:
        return  # "What kind of action ...?" may be answered by "merely unwise" alone
    if any(cut(last, case) for cut in (_leaves_entity, _leaves_unit, _leaves_head, _leaves_object, _leaves_other)):
        reason = f'The answer breaks off at "{last.text}"; give the whole phrase.'
        yield Problem("incomplete_answer", "answer_whole", reason)
    elif following.lower_ in ("of", "and") and following.head == last and last.pos_ in ("NOUN", "PROPN"):
        reason = f'The text goes on after "{last.text}" with "{following.text}"; is the answer whole?'
        yield Problem("incomplete_answer", "answer_whole", reason, "unsure")


def _last_token(case: Case) -> "Token | None":
    """The last token of the answer where it stands in a required sentence, if it ends with a token."""
    text = case.candidate.answer.strip().lower()
    for answer, index in ((a, i) for a in (text, text.rstrip(".!")) for i in case.indices):
        at = case.sentences[index].lower().find(answer)
        if at >= 0 and answer:
            return next((t for t in case.parse.tokens(index) if case.parse.where[t.i][2] == at + len(answer)), None)
    return None


def _ends_joined_name(last: "Token") -> bool:
    """ "Fort" of "Pouilly-le-Fort half of the sheep": nothing that follows a space belongs to such a name."""
    before = last.nbor(-1) if last.i else None
    joined = before is not None and before.text in ("-", "–") and not before.whitespace_
    return joined and last.text[0].isupper() and bool(last.whitespace_) and not last.nbor().text[0].isupper()


_MEASURES = ("DATE", "TIME", "MONEY", "PERCENT", "QUANTITY", "CARDINAL")
_PARTS = frozenset("month day year number many figure weekday century decade".split())
_PART_OF_NAME = re.compile(r"\b(?:first|last|given|family|middle|maiden|Christian|what|which) names?\b", re.IGNORECASE)
_PLACES = frozenset("country city state place where nationality".split())


def _leaves_entity(last: "Token", case: Case) -> bool:
    """ "January" of "January 1, 1978", "about 400" of "about 400 percent", "Universal" of "Universal Music"."""
    entity = next((e for e in last.doc.ents if e.start <= last.i < e.end - 1), None)
    asked = set(terms.words(case.candidate.question))
    following = last.nbor()
    if entity is None or last.like_num and following.like_num:
        return entity is not None
    if entity.label_ in _MEASURES:
        return len(_PARTS & asked) != 1
    if entity.label_ not in ("PERSON", "ORG") or not last.pos_ == following.pos_ == "PROPN":
        return False
    is_part = bool(_PART_OF_NAME.search(case.candidate.question)) or bool(asked & {"nickname", "surname", "called"})
    return not is_part and (entity.label_ == "PERSON" or not asked & _PLACES)


_HOW = re.compile(r"\bhow (?:long|much|far|old|high|deep|wide|fast|quickly|soon|heavy|tall|large|big)\b", re.IGNORECASE)


def _leaves_unit(last: "Token", case: Case) -> bool:
    """ "eleven" of "eleven days" where a length is asked for."""
    is_number = last.like_num and last.dep_ in ("nummod", "compound") and last.head.i > last.i
    return is_number and bool(_HOW.search(case.candidate.question))


def _leaves_other(last: "Token", case: Case) -> bool:
    """ "farm workers" of "farm workers and domestic servants"."""
    following = last.nbor()
    others = [c for c in last.conjuncts if c.i > last.i and c.pos_ == "NOUN"]
    return following.lower_ in ("and", "or") and following.head == last and last.tag_ == "NNS" and bool(others)


def _leaves_head(last: "Token", case: Case) -> bool:
    """The head of the answer's last word comes only after it: "a diplomatic" conference, "rich deposits of" zinc."""
    if len(case.answer_words) == 1:  # "Russian" or "coal" may be just what is asked for
        is_plain = last.tag_ == "JJ" and last.dep_ == "amod" and last.text.islower()
        return is_plain and last.head.i == last.i + 1 and _asks_for_thing(case.candidate.question)
    if last.tag_ in _FUNCTION_TAGS and not last.like_num:
        return last.tag_ not in ("IN", "TO") or last.dep_ in ("prep", "agent", "dative", "aux", "mark")
    if last.dep_ in ("nsubj", "nsubjpass"):
        return _opens_clause(last, case)
    if last.i > last.head.i or last.dep_ not in _LEFT or last.dep_ == "poss" and last.tag_ != "PRP$":
        return False
    entity = next((e for e in last.doc.ents if e.start <= last.i < e.end), None)
    return entity is None or entity.end != last.i + 1 or entity.label_ == "NORP"


def _asks_for_thing(question: str) -> bool:
    """Does it ask "what" or "who" alone, so that an adjective is no answer ("What did Pasteur find?")?"""
    from generation.language import nlp

    asking = next((t for t in nlp.parse_question(question) if t.tag_ in ("WP", "WDT", "WRB", "WP$")), None)
    return asking is not None and asking.tag_ == "WP" and asking.dep_ in ("dobj", "nsubj", "nsubjpass")


def _opens_clause(subject: "Token", case: Case) -> bool:
    """ "that it fades when copper": the answer has a clause's opening and its subject, but not its verb."""
    words = set(case.answer_words)
    openings = (c for c in subject.head.lefts if c.dep_ == "mark" or c.tag_ in ("WRB", "WDT", "WP"))
    return any(c.i < subject.i and c.lower_ in words for c in openings)


def _leaves_object(last: "Token", case: Case) -> bool:
    """ "bring" lawsuits: a verb without the object that comes right after it."""
    objects = [c for c in last.rights if c.dep_ in ("dobj", "attr", "ccomp", "xcomp", "oprd", "acomp")]
    return last.pos_ == "VERB" and len(case.answer_words) > 1 and any(c.left_edge.i == last.i + 1 for c in objects)


def numbers_supported(case: Case) -> Iterator[Problem]:
    """Every number of the question is in the required sentences."""
    for word in terms.words(case.question):
        if word[0].isdigit() and terms.stem(word) not in case.required_stems:
            yield _absent(case, word, [terms.stem(word)], "numbers_supported", "certain")
            return


def names_supported(case: Case) -> Iterator[Problem]:
    """Every name of the question is in the required sentences, at least by its last word."""
    for run in terms.names(case.question):
        words = [w for w in terms.words(" ".join(run)) if w not in TITLES]
        if words and not _is_known(words, case.required_stems):
            sure: Certainty = (
                "certain" if any(_is_known(words, terms.stems(case.sentences[i])) for i in case.others) else "unsure"
            )
            yield _absent(case, " ".join(words), [terms.stem(words[-1])], "names_supported", sure)
            return


def _is_known(words: list[str], stems: frozenset[str]) -> bool:
    """By the name's last word, or by a word that starts alike ("Norwegian" for Norway)."""
    return terms.stem(words[-1]) in stems or any(s[:4] == words[-1][:4] for s in stems if len(s) >= 4)


def _absent(case: Case, words: str, stems: list[str], check: str, certainty: Certainty) -> Problem:
    what = terms.written(case.candidate.question, words)
    there = [i for i in case.others if set(stems) & terms.stems(case.sentences[i])]
    if there:
        reason = f'The question speaks of "{what}", which only sentence {there[0]} has: require it, or ask otherwise.'
        return Problem("missing_sentences", check, reason, certainty)
    reason = f'The required sentences say nothing of "{what}", which the question speaks of.'
    return Problem("wrong_information", check, reason, certainty)


_LIGHT = frozenset(
    terms.stem(w)
    for w in "be have do get make take give go come put let keep see say tell seem become bring include hold use find "
    "call know think feel begin start continue remain serve carry show work run set cause lead receive provide".split()
)


def words_supported(case: Case) -> Iterator[Problem]:
    """No other sentence has several words of the question that the required ones lack.

    A single one is enough if two sentences are required and it stands between them, as links do. General nouns ("law",
    "company") and verbs ("hold") do not count: a question may call a thing by its kind. For the same reason a
    bare noun after "what" or "which" makes nothing certain ("Above what temperature does ...?"), and the main verb
    does not either ("lose" for "was beaten").
    """
    absent = {s for s in case.asked if s not in case.required_stems and s not in _general_words(case)}
    where = {i: absent & terms.stems(case.sentences[i]) for i in case.others}
    spread = {s for s in absent if sum(s in found for found in where.values()) >= FAR_SPREAD}
    best = max(where, key=lambda i: len(where[i] - spread), default=None)
    if best is None or not where[best] - spread:
        return
    lacking = sorted(where[best] - spread, key=case.asked.index)
    question = case.candidate.question
    words = (next(w for w in terms.words(question) if terms.stem(w) == s) for s in lacking)
    shown = ", ".join(f'"{terms.written(question, w)}"' for w in words if len(w) > 1) or f'"{lacking[0]}"'
    reason = f"Of the required sentences, none says {shown}, but sentence {best} does: require it, or ask otherwise."
    telling = [s for s in lacking if s != _kind_asked_for(question)]
    between = len(case.indices) == 2 and case.indices[0] < best < case.indices[1]
    sure = len(telling) > 1 or bool(telling) and between and telling[0] != _main_verb(question)
    yield Problem("missing_sentences", "words_supported", reason, "certain" if sure else "unsure")


def _main_verb(question: str) -> str:
    """The stem of the question's main verb, "" if it has none but "be"."""
    from generation.language import nlp

    found = (t for t in nlp.parse_question(question) if t.dep_ == "ROOT" and t.pos_ == "VERB")
    return next((terms.stem(token.lower_) for token in found), "")


def _kind_asked_for(question: str) -> str:
    """The stem of the word between "what" or "which" and a verb such as "did", "" if there is none."""
    found = re.search(rf"\b(?:what|which)\s+([^\W\d_]+)\s+{wording.AUX}\b", question, re.IGNORECASE)
    return terms.stem(found[1].casefold()) if found else ""


def _general_words(case: Case) -> set[str]:
    """Stems of the question's general nouns and verbs."""
    words = terms.words(case.candidate.question)
    return {s for w in words if (s := terms.stem(w)) in _LIGHT or noun_kind(w) or noun_kind(w.rstrip("s"))}


def sentences_needed(case: Case) -> Iterator[Problem]:
    """Each required sentence gives the answer, a word of the question that no other gives, or a link between others."""
    for index in case.indices:
        rest = [i for i in case.indices if i != index]
        own = terms.stems(case.sentences[index]) - case.stems_of(rest)
        if case.answer_at == [index] or own & set(case.asked) or _is_between(case, index):
            continue
        if index in case.answer_at and index == _best_answer(case) or _names_alone(case, index):
            continue
        reason = f"Sentence {index} adds nothing that question or answer needs; leave it out or ask about it."
        certainty: Certainty = "unsure" if _may_be_between(case, index) else "certain"
        yield Problem("irrelevant_sentences", "sentences_needed", reason, certainty)


def _best_answer(case: Case) -> int:
    """Of several sentences with the answer, the one that has most of the question."""
    return max(case.answer_at, key=lambda i: (len(set(case.asked) & terms.stems(case.sentences[i])), i))


def _names_alone(case: Case, index: int) -> bool:
    """Is a labelled antecedent of this sentence, word for word, in the question, and in no other required sentence?"""
    rest = [terms.words(case.sentences[i]) for i in case.indices if i != index]
    for c in case.candidate.coreferences:
        words = [w for w in terms.words(c.antecedent.text) if w not in ("the", "a", "an")]
        if c.antecedent.sentence_index == index and terms.contains(terms.words(case.candidate.question), words):
            return not any(terms.contains(text, words) for text in rest)
    return False


def _may_be_between(case: Case, index: int) -> bool:
    """Without labels: may it link two others, as it refers back and the next sentence has a loose "the" or "that"?"""
    if case.candidate.coreferences or index + 1 not in case.indices or index == case.indices[0]:
        return False
    rest = [i for i in case.indices if i != index]
    back = any(link.mention.sentence == index and link.sources for link in case.links(case.indices))
    resolved = {link.mention.head for link in case.links(rest) if link.sources}
    loose = (t for t in case.parse.tokens(index + 1) if t.lower_ in _DETERMINERS and t.dep_ in ("det", "amod"))
    return back and any(t.head.i not in resolved for t in loose)


_DETERMINERS = frozenset("the this that these those such".split())


def _is_between(case: Case, index: int) -> bool:
    """Do links lead from one required sentence through this one to another?

    Where none are labelled: does it refer back, and can a later one only be resolved by its help?
    """
    links = case.candidate.coreferences
    if links:
        back = {c.antecedent.sentence_index for c in links if c.mention.sentence_index == index}
        forth = {c.mention.sentence_index for c in links if c.antecedent.sentence_index == index}
        return bool(back and forth and forth - back)
    rest = [i for i in case.indices if i != index]
    found = [link for link in case.links(case.indices) if link.sources]
    if index == case.indices[0] or not any(link.mention.sentence == index for link in found):
        return False
    without = {link.mention.head for link in case.links(rest) if link.sources}
    return any(link.mention.sentence in rest and link.mention.head not in without for link in found)
