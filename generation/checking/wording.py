"""Checks of the wording of question and answer, by themselves."""

import re
from collections.abc import Iterator

from generation.checking import terms
from generation.checking.case import Case, Problem
from generation.language.lexicon import noun_kind

MAX_ANSWER_WORDS = 40
ASIDE = 5
"""Words of a relative clause at a question's end; ", who was involved?" has fewer and asks."""
SHOWN = 60
"""Characters of a question or answer that a reason repeats."""
WHOLE_SENTENCE = 0.9
"""An answer with more than this share of a sentence's words is the sentence."""

_WH = r"(?:what|whom?|whose|when|where|why|which|how)"
AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would)"
_COMPOUND = re.compile(
    rf"\?\W*\w"  # something is asked, or said, after a question mark
    rf"|^{_WH}(?:,| and| or) {_WH}\b"
    rf"|(?:[,;:—–]|\b(?:and|or|but|as well as|plus)\b)\s+(?:also\s+|then\s+|if so,?\s+)?"
    rf"(?:(?:in|on|at|by|for|from|to|with|of)\s+)?{_WH}\s+(?:{AUX}|else|many|much|long|old|far|often|year"
    rf"|(?!(?:i|you|he|she|it|we|they)\b)(?:[\w'’-]+\s+){{1,3}}?{AUX})\b"
    rf"|(?:\b(?:and|or|as well as|plus|;)\s+{_WH})\s*\?$"
    rf"|(?:,|;)?\s(?:and|or|as well as)\s+who\s+(?!(?:{AUX}|is|else)\b)\w+"
    rf"|\b(?:and|;|as well as)\s+(?:is|was|were|did|does)\s+(?:it|he|she|they|this|that|there)\b",
    re.IGNORECASE,
)


def single_question(case: Case) -> Iterator[Problem]:
    """One question only."""
    question = re.sub(r"[\"“][^\"“”]*[\"”]", "it", case.candidate.question.strip())
    joints = (
        m for m in _COMPOUND.finditer(question) if not _is_first(question, m) and not _is_relative(question, m[0])
    )
    if joint := next(joints, None):
        second = " ".join(question[joint.start() :].split()).lstrip(",;:—–? ")
        reason = f'Ask one thing only; "{second[:SHOWN]}" is a second question.'
        yield Problem("compound_question", "single_question", reason)


def _is_first(question: str, found: re.Match[str]) -> bool:
    """Is this the question's first question word ("By August, what record had ..."), or does a clause stand before it?

    "In the year when Ann died, who was king?", "When Ann was ill, who took over?"
    """
    before = question[: found.start()]
    if "?" in found[0] or not before:
        return False
    opening = terms.words(before)[:2]
    is_clause = not any(re.fullmatch(_WH, w) for w in opening)
    is_clause = is_clause or opening[:1] == ["when"] and not re.fullmatch(AUX, opening[-1])
    return not re.search(rf"\b{_WH}\b", before, re.I) or is_clause and found[0].startswith(",")


def _is_relative(question: str, joint: str) -> bool:
    """Is it a relative clause: "a man who lived here and who was lost", "Ann, who was ill, ..."?"""
    words = [w for w in terms.words(joint) if re.fullmatch(_WH, w)]
    if "?" in joint or not words or words[-1] not in ("who", "whom", "whose", "which", "where", "when"):
        return False
    before, after = question[: question.find(joint)].rstrip(), question[question.find(joint) + len(joint) :]
    if re.match(r"\s+(?:it|he|she|they|this|there)\b", after):
        return False
    if re.search(r"\b(?:and|or|but|plus|well as)\b", joint):
        return (
            bool({words[-1], "that"} & set(terms.words(before)[2:]))
            and not before.endswith(",")
            and not joint.startswith(",")
        )
    return joint.startswith(",") and (_resumes(question, joint) or _trails(question, joint, words[-1]))


def _resumes(question: str, joint: str) -> bool:
    """Is there another comma and more after the aside ("What did Ann, who was ill, sell?")?"""
    return "," in question[question.find(joint) + len(joint) :]


def _trails(question: str, joint: str, word: str) -> bool:
    """Does the question end with an aside ("What became of Ann, who had lost her shop in a fire?")?"""
    aside = terms.words(question[question.find(joint) :])
    return word not in ("where", "when") and len(aside) >= ASIDE


_EMPTY = frozenset(
    terms.stem(w)
    for w in "happen occur thing something important significance next mean matter involve involved people person one "
    "passage text story about explain describe tell said".split()
)


def question_asks_something(case: Case) -> Iterator[Problem]:
    """The question has a subject of its own: "What happened?" could be asked of any passage."""
    meaning = [s for s in terms.content(case.candidate.question) if s not in _EMPTY]
    if case.candidate.question.strip() and not meaning:
        reason = "The question could be asked of any passage; name whom or what it is about."
        yield Problem("ambiguous_question", "question_asks_something", reason)


_POINTERS = re.compile(
    r"\b(?:the|this|that|these|those)\s+(?:above|given|following|provided|preceding)?\s*(?:passage|excerpt|segment)s?\b"
    r"|\b(?:the|this|that|these)\s+(?:above|given|provided|preceding)\s+(?:text|paragraph|section|sentences?|article)\b"
    r"|\b(?:this|these)\s+(?:text|paragraph|sentences?|article)\b"
    r"|\b(?:the|this) (?:text|paragraph|sentences?|context|article)(?=\s*(?:\?|,|above|below|provided|given"
    r"|says?\b|states?|mentions?|describes?|tells?|refers?))"
    r"|\bsentence \d+\b|\b(?:this|that|the other|the same) ones?\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|itself|he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves)\b", re.IGNORECASE
)
_POINTING = frozenset("this that these those former latter".split())
_PERSONS = frozenset("who whom whose person people someone somebody anyone one character everyone".split())


def question_stands_alone(case: Case) -> Iterator[Problem]:
    """No pronoun without an antecedent in the question, and no pointing at "the passage"."""
    question = case.candidate.question.strip()
    pointer = _POINTERS.search(question)
    loose = next((m[0] for m in _PRONOUN.finditer(question) if _is_loose(question, m)), "")
    pointing = pointer[0] if pointer else _loose_pointing(question)
    if pointing:
        reason = f'Name what is meant instead of "{pointing}"; the question must stand without the passage.'
        yield Problem("ambiguous_question", "question_stands_alone", reason)
    elif loose:
        reason = f'"{loose}" in the question has no antecedent in it; write the name.'
        yield Problem("ambiguous_question", "question_stands_alone", reason)


def _is_loose(question: str, found: re.Match[str]) -> bool:
    """Can the pronoun mean nothing that the question names before it?"""
    pronoun, before, after = found[0].lower(), question[: found.start()], question[found.end() :]
    if pronoun == "it" and _is_expletive(before, after):
        return False
    if _is_named_later(pronoun, before, after):
        return False
    if _is_first_subject(pronoun, before):
        return True
    if pronoun in ("it", "its", "itself"):
        return not (_names_before(before) or _nouns_before(before))
    if pronoun.startswith("the"):
        plural = any(w.endswith("s") and not w.endswith("ss") for w in terms.words(before) if w not in _NO_PLURALS)
        return not (_names_before(before) or plural or _persons_before(before))
    return not (_names_before(before) or _persons_before(before))


_NO_PLURALS = frozenset("is was does has as his its this whose us".split())


def _is_named_later(pronoun: str, before: str, after: str) -> bool:
    """ "Of the cases that he argued, how many did Thurgood Marshall win?": the person is the main clause's subject."""
    if pronoun not in ("he", "she") or not re.search(r"\w\s+(?:that|which|whom)\s+$", before):
        return False
    return bool(re.search(rf"\b(?i:{AUX})\s+[A-Z][\w.'’-]*\s+[A-Z]", after))


def _is_first_subject(pronoun: str, before: str) -> bool:
    """Only the question word's phrase and an auxiliary stand before it ("In which affair was it ..."); or "of they"."""
    if pronoun in ("he", "she", "they") and re.search(r"\b(?:of|by|for|to|with|from|at|on|in|under|about)\s+$", before):
        return True
    opening = re.fullmatch(rf"\W*(?:\w+ )?{_WH}((?:\s+[\w'’-]+){{0,3}}?)\s+{AUX}\s+", before, re.IGNORECASE)
    if opening is None or _names_before(before):
        return False
    return not re.search(rf"\b{AUX}\b", opening[1])


def _is_expletive(before: str, after: str) -> bool:
    """ "How long did it take", "what is it that", "was it not until": this "it" refers to nothing."""
    if re.match(r"\s+(?:takes?|took|seems?|seemed|costs?|be|that|not|like|is|was|would)\b", after, re.IGNORECASE):
        return True
    clause = re.match(r"\s+[\w-]+\s+(?:that|to|for|whether|until)\b", after, re.IGNORECASE)
    return bool(clause) and bool(re.search(r"\b(?:is|was|made|found|be)\s+$", before, re.IGNORECASE))


def _loose_pointing(question: str) -> str:
    """A "this", "that", "those" or "former" that stands for a thing; the parse knows the "that" of a clause."""
    if not _POINTING & set(terms.words(question)):
        return ""
    from generation.language import nlp

    for token in nlp.parse_question(question):
        following = token.nbor().lower_ if token.i + 1 < len(token.doc) else ""
        if token.lower_ in ("former", "latter"):
            nouns = ("NOUN", "PROPN", "ADJ", "NUM", "VERB" if token.dep_ == "amod" else "")
            alone = not following or token.nbor().pos_ not in nouns or token.nbor().dep_ == "ROOT"
        else:
            alone = token.lower_ in _POINTING and token.tag_ == "DT" and token.dep_ not in ("det", "predet", "mark")
        if alone and following not in ("of", "who", "whose", "which", "in"):
            return token.text
    return ""


def _names_before(text: str) -> bool:
    return bool(terms.names(text))


def _nouns_before(text: str) -> bool:
    """Is there a thing that "it" may mean: a noun, after an article or question word, that is no person?"""
    nouns = re.findall(r"\b(?:the|a|an|which|what|whose|every|each)\s+(?:[\w-]+\s+)?([\w-]+)", text, re.IGNORECASE)
    return any(noun_kind(n.lower()) != "person" for n in nouns if n.lower() not in terms.STOP_WORDS)


def _persons_before(text: str) -> bool:
    return any(
        w in _PERSONS or noun_kind(w) == "person" or noun_kind(w.rstrip("s")) == "person" for w in terms.words(text)
    )


def answer_not_leaked(case: Case) -> Iterator[Problem]:
    """The answer does not stand in the question, unless the question offers a choice."""
    question = terms.words(case.candidate.question)
    content = [w for w in case.answer_words if w not in terms.STOP_WORDS]
    core = case.answer_words[case.answer_words.index(content[0]) :] if content else []
    if core and (terms.contains(question, core) or _is_told_otherwise(question, core)) and "or" not in question:
        shown = case.candidate.answer.strip()[:SHOWN]
        reason = f'The question already holds the answer "{shown}"; ask without giving it away.'
        yield Problem("other", "answer_not_leaked", reason)


def _is_told_otherwise(question: list[str], core: list[str]) -> bool:
    """Does the question have the answer's number or date in another writing ("fifteen" as 15, "June 4" as 4 June)?"""
    answer, asked = [terms.stem(w) for w in core], [terms.stem(w) for w in question]
    if not answer[0][0].isdigit() and not answer[-1][0].isdigit():
        return False
    n = len(answer)
    windows = (asked[at : at + n] for at in range(len(asked) - n + 1))
    is_date = n > 1 and any(w in _MONTHS for w in answer)
    return any(window == answer or is_date and sorted(window) == sorted(answer) for window in windows)


_MONTHS = frozenset(map(terms.stem, terms.MONTHS))


_VAGUE = re.compile(
    r"(?:(?:this|that|these|those|the other|the same|the first|the second|another|which) ?(?:one|ones)?|the same"
    r"|the (?:former|latter)|(?:un|not )known|(?:it|that) depends.*|n/?a|none|nothing|no answer|tbd|\W*"
    r"|not (?:stated|mentioned|given|specified)(?: .*)?|as (?:mentioned|stated|described|said).*"
    r"|see (?:above|below|sentence).*|.*\b(?:mentioned|stated) (?:above|below)|cannot tell|i don['’]?t know)",
    re.IGNORECASE,
)
_EMPTY_ANSWER = frozenset(
    "a an the of in on at to for by with from as and or but nor that which who than about over under after before "
    "between during through within without per into onto upon until since nearly almost around roughly approximately "
    "only just more less least most near behind beside against along across around off out up down".split()
)
_BARE_PRONOUN = re.compile(
    r"(?:to |by |for |from |with |of |in |on |at )?"
    r"(?:its?|itself|he|him|his|himself|she|hers?|herself|they|them|theirs?|themselves|we|us|i|me|you|this|that|these|those)"
)


def answer_says_something(case: Case) -> Iterator[Problem]:
    """The answer is a phrase: not a bare pronoun, not "the former", not a whole required sentence, not an essay."""
    name = "answer_says_something"
    answer = case.candidate.answer.strip().strip(".!\"'“”‘’")
    if _BARE_PRONOUN.fullmatch(answer.lower()):
        yield Problem("incomplete_answer", name, "A pronoun is no answer; write what it stands for.")
    elif _VAGUE.fullmatch(answer) or case.answer_words and set(case.answer_words) <= _EMPTY_ANSWER:
        yield Problem(
            "incomplete_answer", name, f'"{answer}" tells a reader nothing; answer with a phrase of the text.'
        )
    if len(case.answer_words) > MAX_ANSWER_WORDS:
        yield Problem("incomplete_answer", name, f"Cut the answer to at most {MAX_ANSWER_WORDS} words.")
    elif any(_is_most_of(case.answer_words, terms.words(case.sentences[i])) for i in case.indices):
        yield Problem("incomplete_answer", name, "The answer repeats a whole sentence; give only the phrase asked for.")


def _is_most_of(answer: list[str], sentence: list[str]) -> bool:
    return len(answer) >= WHOLE_SENTENCE * len(sentence) and len(set(answer) & set(sentence)) >= WHOLE_SENTENCE * len(
        set(sentence)
    )
