"""Does what a question says single one out? Gates for questions that ask for the antecedent itself, and for bare ones.

Many people attend a college or sign with a label, one founds it. Written after a third reading, in which nearly all
that strict readers refused could have been true of many.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from generation.language import anchoring, doubts
from generation.language.antecedents import Antecedents
from generation.language.lexicon import KNOWN_NAMES, UNIQUE_NOUNS, first_names
from generation.language.mentions import Mention
from generation.language.phrasing import Draft

if TYPE_CHECKING:
    from spacy.tokens import Token

_SHARED = frozenset(
    "act air appear attend be become belong come compete complete continue debut distribute earn employ enter feature "
    "get give go graduate have hold include initiate join learn live make marry meet move open operate own perform "
    "play produce race receive release return run serve share sign sit star start stay study teach tour "
    "train travel visit voice work loan take finish score trade draft rank support "
    "sponsor award provide consider collaborate mention pose know cover reach read see hear "
    "watch".split()
)
"""What many do to or with the same thing, so that its name tells nobody apart."""
_OF_ONE = frozenset(
    "assassinate build coin compose conceive create defeat design discover elect establish found invent kill name "
    "nominate order paint pioneer shoot succeed summon write".split()
)
"""What is mostly done to one thing by one, or to one person once."""
_CONTESTS = frozenset("win lose beat defeat".split())
_SINGLE = frozenset("join sign marry leave found die win lose debut".split())
"""What happens on a day and not "from 1954 to 1956"."""
_ONCE = frozenset(
    "step retire resign bear close launch enact pass repeal ratify end dissolve establish arrive collapse publish bury "
    "inherit coauthor crown abdicate debut premiere demolish complete inaugurate enlist bequeath".split()
)
"""What is done once, or to one thing, so that the verb alone tells."""
_LASTING = frozenset("be hold live work serve teach play own continue remain know reside chair host use".split())
_OPENING = ("begin", "start", "continue", "go", "come")
_SPECIFICS = 2
_SHARED_SPECIFICS = 3
_CONTENT = 4
"""Content words that stand in for the second name or number."""
_PARTS = ("compound", "nmod", "amod", "npadvmod")
_SUFFIXES = ("llc", "inc.", "inc", "ltd", "ltd.", "corp.", "co.", "jr.", "sr.")
_BROKEN = re.compile(
    r"\s[.,;:](?!\d)|\w - \w|\b(?:1\d{3}|20\d\d) [A-Z]|\bwhom (?:he|she)\b|\b(?:by|of|with|from) (?:by|of|with|from)\b"
    r"|\bbecome to\b"
)
_WHOM = re.compile(r"\b(?:of|to|for) whom\b(?! (?:was|were|did|does|is|are)\b)")
_SPAN = re.compile(r"\bfrom \d{4} (?:to|through) \d{4}")
_HALF_SPAN = re.compile(r"\bfrom (?:[A-Z]\w+ )?\d{4}\?$|^(?!.*\b(?:from|between)\b).*\bto \d{4}\b")
_ONE_OF_MANY = frozenset("opinion decision ruling speech report letter proposal bill plan idea view".split())
"""What one person has many of."""
_HANGING = re.compile(r" (?:in|on|at|of|by|during)\?$")
_STRAY = re.compile(r"\b(?:he|she|him)\b")
_RELATIVE = re.compile(
    r"\b(?:before long|soon|later|afterwards?|initially|the next (?:day|year|month)|that year|(?:has|have) since"
    r"|within (?:an?|one|two|three|four|five|a few) (?:day|week|month|year|decade)s?(?! of))\b"
)
_COMMA = re.compile(
    r"^(?:Whose|Which \w+'s|\w+ (?:did|does|do|has|had|was|were|is|are)) [^,]+, "
    r"(?:on|in|at|from|with|to|by|of|under) [^,]+$"
)
"""A single comma after which the subject goes on ("Gideon's petition, on prison stationery arrive?")."""
_INCOMPLETE = re.compile(r"\b(?:(?:take|took|taken) part|in consequence|instead|at first|at times|in return)\?$")
"""What leaves open in what."""
_ORDINAL = re.compile(r"\b(?:his|her|its|their) (?:first|second|third|fourth|fifth|last|next|only) \w+\?$")
_PART = re.compile(r"\bas part of\b")
_SHARED_OWNER = re.compile(r"^[^,]* and (?:his|her|its|their) ")
"""Two subjects of one owner: "Whose opinion in that case and her judgment are discussed?"."""
_CAREER = re.compile(
    r"\b(?:career|seasons?|baseman|midfielder|debut|professional(?:ly)?|freshman|runner-up|(?:first|second) place)\b"
)
"""Words of what many players and actors have alike."""
_ANSWERED_BY_NOUN = ("object", "become", "governed", "name")
_REASONS = ("purpose", "why")
UNEXPLAINED = 'a noun with "the" in the question that only the passage explains'
FIRST_NAME = "a person by a first name alone"
SURNAME = "a person by a surname alone"
_SPLITTING = (*_ANSWERED_BY_NOUN, "where", "within", "second", "agent", "attribute")


def of(behind: Antecedents, draft: Draft) -> Iterator[str]:
    """Reasons for which the question may mean more than one, or reads as a piece of one."""
    if any(p.search(draft.question) for p in (_BROKEN, _HALF_SPAN, _WHOM)):
        yield "the question is broken or cut"
    if _RELATIVE.search(draft.question.lower()):
        yield "a time that counts from something else"
    sentence = behind.parse.sentences[behind.parse.sentence_of(draft.verb)]
    if draft.target in _SPLITTING and " v. " in sentence:
        yield "the name of a case may be cut"
    if " v. " in draft.question and not _is_whole_case(behind, draft, sentence):
        yield "the question is broken or cut"
    if _is_cut_at_dash(behind, draft):
        yield "the question is broken or cut"
    if draft.target in ("subject", "who", "which", "whose") and _HANGING.search(draft.question):
        yield "the question is broken or cut"
    if _is_cut_at_colon(behind, draft) or _ends_in_another_name(behind, draft):
        yield "the question is broken or cut"
    if _COMMA.search(draft.question) or _INCOMPLETE.search(draft.question):
        yield "the question is broken or cut"
    if _is_story(behind, draft):
        yield "a plot whose work the question does not name"
    if _is_open(behind, draft):
        yield "the question leaves open in which matter"
    if draft.wanted is not None:
        yield from _of_asked_back(behind, draft)
    else:
        yield from _of_named(behind, draft)


def _is_open(behind: Antecedents, draft: Draft) -> bool:
    """Could the title say of what this is told, and has the question no year and hardly a name of its own?"""
    if not anchoring.wording(behind.parse.title) or anchoring.is_told(behind, draft):
        return False
    return (
        not doubts.YEAR.search(draft.question) and draft.target != "when" and specifics(doubts.said(behind, draft)) < 2
    )


def _is_whole_case(behind: Antecedents, draft: Draft, sentence: str) -> bool:
    """Is the case's name one that stands for a mention, or does the question go on as its sentence does?"""
    names = (behind.name(link) for link in behind.links if link.mention in draft.used)
    named = any(n is not None and behind.called(n) in draft.question and "v." in n.words for n in names)
    return named or draft.question.partition(" v. ")[2].rstrip("?") in sentence


def _of_asked_back(behind: Antecedents, draft: Draft) -> Iterator[str]:
    verb = behind.parse.words[draft.verb]
    fact = doubts.said(behind, draft)
    named = (behind.name(link) for link in behind.links if link.mention == draft.wanted)
    title = behind.parse.title.lower().split()
    bare = (n for n in named if n is not None and len(n.words) == 1 and n.words[0] not in title)
    if draft.wanted and draft.wanted.gender in ("m", "f") and any(bare):
        yield "the answer would be a bare surname or first name"
    if not _is_single(behind, draft, fact):
        yield "what the question says could be true of many"
    if _CAREER.search(draft.question) or _PART.search(draft.question) and not doubts.MONTH.search(draft.question):
        yield "what the question says could be true of many"
    if verb.lemma_ == "be" and any(c.dep_ == "attr" and c.left_edge.lower_ in ("a", "an") for c in verb.children):
        yield "what the question says could be true of many"
    if draft.question.startswith("What ") and specifics(fact) < _SHARED_SPECIFICS:
        yield "the question does not say what kind of thing is meant"
    if _STRAY.search(draft.question) or draft.target == "whose" and _SHARED_OWNER.search(draft.question):
        yield "the question has a pronoun"
    if any(_is_bare_person(behind, m, draft) for m in behind.mentions):
        yield SURNAME
    if verb.lemma_ in _CONTESTS and not doubts.YEAR.search(draft.question):
        yield "a contest without its year"
    if verb.lemma_ in _SINGLE and _SPAN.search(draft.question):
        yield "a span of years for what happens once"
    if re.match(r"What (?:is|was|are|were) an? ", draft.question):
        yield "the question reads as one for a definition"
    if hanging(fact, draft.question):
        yield 'the question has a phrase with "the" that nothing in it explains'


def _is_single(behind: Antecedents, draft: Draft, fact: "list[Token]") -> bool:
    """Do names, years and numbers, or an act that is done once, tell of one alone?"""
    verb = _act(behind.parse.words[draft.verb])
    count = specifics(fact)
    if _is_ranked(fact) and count:
        return True
    if verb.lemma_ == "be" and any(c.dep_ == "attr" and _is_definite(c) for c in verb.children) and count:
        return True
    if draft.target == "whose" and any(t.ent_type_ == "PERSON" for t in fact):
        return True
    if verb.lemma_ in _SHARED:
        return count >= _SHARED_SPECIFICS
    if verb.lemma_ in _OF_ONE and count:
        return True
    content = doubts.content(behind, draft) - (draft.question.startswith("Which ") and draft.told is None)
    return count >= _SPECIFICS or content >= (_CONTENT if count else doubts.MIN_UNNAMED)


def _act(verb: "Token") -> "Token":
    """ "acting" of "began acting"."""
    inner = (c for c in verb.rights if c.dep_ == "xcomp" and c.pos_ == "VERB")
    return next(inner, verb) if verb.lemma_ in _OPENING else verb


def specifics(fact: "list[Token]") -> int:
    """Names, years and numbers among the words of a fact that tell independently of each other."""
    names = {t.i for t in fact if _is_name(t)}
    names = {i for i in names if i + 1 not in names}
    years = {t.text for t in fact if t.shape_ == "dddd" and t.head.lower_ not in ("to", "through")}
    days = any(t.ent_type_ == "DATE" and t.text.isdigit() and len(t.text) < 3 for t in fact)
    numbers = {t.text for t in fact if t.pos_ == "NUM" and t.ent_type_ != "DATE" and t.head.pos_ != "PROPN"}
    quotations = sum(t.text in ('"', "“") for t in fact)
    return len(names) + min(len(years), 2) + (days and bool(years)) + min(len(numbers), 2) + min(quotations, 1)


def _is_name(token: "Token") -> bool:
    """Is this the head of a name, not of a part of it ("LLC", the state after a town)?"""
    part = token.dep_ in _PARTS or token.dep_ == "appos" and token.head.pos_ == "PROPN"
    dated = token.ent_type_ in ("DATE", "TIME")
    return token.pos_ == "PROPN" and not (part or dated or token.lower_ in _SUFFIXES or _is_alone(token))


def _is_alone(token: "Token") -> bool:
    """ "Shire's brother": a single name that owns something tells of whom only to who has read on."""
    return token.dep_ == "poss" and token.ent_type_ not in ("GPE", "ORG", "LOC") and not list(token.lefts)


def _is_ranked(fact: "list[Token]") -> bool:
    return any(t.tag_ in ("JJS", "RBS") or t.lower_ in ("first", "last", "only", "sole") for t in fact)


def _is_definite(noun: "Token") -> bool:
    return any(c.dep_ == "det" and c.lower_ == "the" for c in noun.lefts)


def hanging(fact: "list[Token]", question: str) -> list[str]:
    """The nouns of phrases with "the" in a question that nothing in it explains."""
    return [_phrase(t) for t in fact if _hangs(t, question)]


def _phrase(noun: "Token") -> str:
    """ "court", but "college president": what the article's matter may explain is a bare noun."""
    return " ".join([*(c.lower_ for c in noun.lefts if c.dep_ in _PARTS and c.pos_ != "ADJ"), noun.lemma_])


def _hangs(noun: "Token", question: str) -> bool:
    """ "the college president", "the deadlock in Congress": described, but not by what the question says."""
    if noun.tag_ != "NN" or not _is_definite(noun) or noun.lemma_ in UNIQUE_NOUNS or noun.dep_ in (*_PARTS, "appos"):
        return False
    if noun.doc[noun.left_edge.i : noun.i + 1].text not in question:
        return False
    told = any(
        c.lower_ in ("of", "for") or _is_by_a_name(c) or c.dep_ in ("relcl", "acl", "appos") or c.tag_ in ("JJS", "CD")
        for c in noun.rights
    )
    ranked = any(t.tag_ == "JJS" or t.lower_ in ("first", "last", "only") for t in noun.lefts)
    named = any(c.pos_ == "PROPN" or c.ent_type_ in ("DATE", "NORP") or c.pos_ == "NUM" for c in noun.lefts)
    return not (told or ranked or named)


def _is_by_a_name(child: "Token") -> bool:
    """ "the assembly center at Tanforan": a place or body that says which."""
    return child.dep_ == "prep" and any(c.dep_ == "pobj" and c.pos_ == "PROPN" for c in child.children)


def _of_named(behind: Antecedents, draft: Draft) -> Iterator[str]:
    if _says_little(behind, draft) or _ORDINAL.search(draft.question) or _is_bare_thing(behind, draft):
        yield "the question says too little"
    subject = next((c for c in behind.parse.words[draft.verb].lefts if c.dep_ in ("nsubj", "nsubjpass")), None)
    if subject is not None and subject.lemma_ in _ONE_OF_MANY and any(c.dep_ == "poss" for c in subject.lefts):
        yield "the question leaves open in which matter"
    if draft.target == "how much" and draft.lost:
        yield "the question says too little"
    if hanging(doubts.said(behind, draft), draft.question):
        yield UNEXPLAINED
    yield from _of_names(behind, draft)
    if _is_of_a_body(behind, draft) and (
        draft.target == "that" or draft.target == "object" and doubts.content(behind, draft) < 3
    ):
        yield "a body that does many such things"
    answer = behind.parse.words[draft.answer[0] : draft.answer[1]]
    if draft.question.startswith("Who ") and answer and answer[0].lower_ in ("a", "an"):
        yield "the answer names nobody"
    if draft.target == "when" and not any(t.shape_ == "dddd" for t in answer):
        yield "a month without its year"
    if draft.target in (*_REASONS, "control", "intend") and any(
        _leans(t) or t.dep_ == "dobj" and _is_bare(t) for t in answer
    ):
        yield 'the answer has a noun with "the" that nothing in it explains'
    vague = draft.target == "object" and behind.parse.words[draft.verb].lemma_ in ("hold", "need", "mark", "show")
    if vague and doubts.content(behind, draft) < 3:
        yield "the question says too little"
    if draft.target in (*_ANSWERED_BY_NOUN, "agent") and any(_leans(t) for t in answer[1:]):
        yield 'the answer has a noun with "the" that nothing in it explains'
    if draft.target == "agent" and any(t.lower_ == "by" for t in answer):
        yield "the answer runs on into another clause"
    if draft.target in _ANSWERED_BY_NOUN and any(t.tag_ == "VBD" and t.dep_ == "conj" for t in answer):
        yield "the answer runs on into another clause"
    if draft.target == "agent" and _is_run_on(behind, draft):
        yield "the question runs two clauses together"


def _is_bare_thing(behind: Antecedents, draft: Draft) -> bool:
    """ "What did X write?" "a routine", "techniques": one plain noun for a question that says nothing but the verb."""
    answer = behind.parse.words[draft.answer[0] : draft.answer[1]]
    plain = len(answer) == 2 and answer[0].lower_ in ("a", "an", "the", "one") or len(answer) == 1
    noun = plain and answer[-1].pos_ == "NOUN"
    return noun and draft.target == "object" and specifics(doubts.said(behind, draft)) < 2


def _of_names(behind: Antecedents, draft: Draft) -> Iterator[str]:
    """Is a person of the question told by more than a first name, or than a surname that the title does not hold?"""
    links = {link.mention: link for link in behind.links}
    for mention in draft.used:
        name = behind.name(links[mention]) if mention in links and mention.gender in ("m", "f") else None
        if name is None or name.form != "name" or len(behind.called(name).split()) > 1:
            continue
        yield FIRST_NAME if name.words[0] in first_names() else SURNAME
    if any(_is_bare_person(behind, m, draft) for m in behind.mentions):
        yield SURNAME


def _is_bare_person(behind: Antecedents, mention: Mention, draft: Draft) -> bool:
    """ "When did Comstock arrest him?": a person of the fact sentence by one word that is not the article's."""
    if mention.form != "name" or len(mention.words) > 1 or mention.sentence != behind.parse.sentence_of(draft.verb):
        return False
    entity, word = behind.named.get(mention.head), behind.parse.words[mention.head]
    person = word.ent_type_ == "PERSON" or entity is not None and entity.kind == "person"
    before = re.search(rf"(\S+) {re.escape(word.text)}\b(?! [A-Z])", draft.question)  # a title, a first name
    asked = before is not None and not before[1][:1].isupper()
    return person and asked and not draft.answer[0] <= word.i < draft.answer[1]


def _is_cut_at_colon(behind: Antecedents, draft: Draft) -> bool:
    """Does the question, or a name in it, end right before a colon that may belong to a title ("X: The Return")?"""
    words = behind.parse.words
    fact = behind.parse.tokens(behind.parse.sentence_of(draft.verb))
    named = [n for link in behind.links if link.mention in draft.used for n in link.names]
    ends = [n.end for n in named] + [t.i for t in fact]
    colons = (i for i in ends if 0 < i < len(words) - 1 and words[i].text == ":" and words[i - 1].pos_ == "PROPN")
    return any(words[i + 1].text[:1].isupper() and words[i - 1].text in draft.question for i in colons)


def _is_cut_at_dash(behind: Antecedents, draft: Draft) -> bool:
    """ "in Milan–San Remo": does the question stop in the middle of a name that a dash holds together?"""
    words = behind.parse.words
    ends = (t for t in behind.parse.tokens(behind.parse.sentence_of(draft.verb))[:-2] if t.pos_ == "PROPN")
    joined = (
        t for t in ends if not t.whitespace_ and words[t.i + 1].text in ("–", "-") and words[t.i + 2].text[:1].isupper()
    )
    return any(re.search(rf"\b{re.escape(t.text)}(?![\w–-])", draft.question) for t in joined)


def _ends_in_another_name(behind: Antecedents, draft: Draft) -> bool:
    """ "directed with Dave Grossman, Day of the Tentacle?": a name behind the last comma that is no place's."""
    last = re.search(r", ([A-Z][\w.]*)[^,]*\?$", draft.question)
    fact = behind.parse.tokens(behind.parse.sentence_of(draft.verb))
    after = (t for t in fact if last and t.text == last[1] and t.i and behind.parse.words[t.i - 1].text == ",")
    return any(t.ent_type_ not in ("GPE", "LOC", "FAC", "DATE") for t in after)


def _says_little(behind: Antecedents, draft: Draft) -> bool:
    """Does the question about a person, or for a day, hold no more than the name and a verb of many objects?"""
    verb = behind.parse.words[draft.verb]
    asked = (*_ANSWERED_BY_NOUN, "when", "second", "how long", "that", "intend", "purpose")
    if doubts.content(behind, draft) > 1 or draft.target not in asked:
        return False
    if draft.target == "become":
        return not doubts.YEAR.search(draft.question)
    if draft.target == "when":
        return verb.lemma_ not in _SINGLE and verb.lemma_ not in _OF_ONE and verb.lemma_ not in _ONCE
    links = (link for link in behind.links if link.mention in draft.used)
    person = any(link.mention.gender in ("m", "f") or link.entity.kind == "person" for link in links)
    return person and verb.lemma_ not in _OF_ONE and verb.lemma_ not in _ONCE


def _is_story(behind: Antecedents, draft: Draft) -> bool:
    """ "Who does Mary meet at a party?": what a plot tells of its people, of a work that the question does not name."""
    clause = behind.parse.words[draft.verb]
    first = next((c for c in clause.lefts if c.dep_ in ("aux", "auxpass")), clause)
    people = any(m.gender in ("m", "f") for m in draft.used)
    return people and first.tag_ == "VBZ" and clause.lemma_ not in _LASTING and first.lemma_ != "have"


def _is_of_a_body(behind: Antecedents, draft: Draft) -> bool:
    """Does the question name but Congress or the like, of which no text tells all?"""
    links = (link for link in behind.links if link.mention in draft.used)
    return any(" ".join(n.words[-k:]) in KNOWN_NAMES for link in links for n in link.names for k in (1, 2, 3))


def _leans(token: "Token") -> bool:
    """ "for the state": a bare noun that the text has named elsewhere."""
    return token.dep_ in ("pobj", "conj") and _is_bare(token)


def _is_bare(token: "Token") -> bool:
    bare = token.tag_ == "NN" and [c.lower_ for c in token.children] == ["the"]
    return bare and token.lemma_ not in UNIQUE_NOUNS


def _is_run_on(behind: Antecedents, draft: Draft) -> bool:
    following = re.search(r"\bby (\w+)", draft.question)
    fact = behind.parse.tokens(behind.parse.sentence_of(draft.verb))
    return following is not None and any(t.text == following[1] and t.pos_ in ("NOUN", "VERB", "ADJ") for t in fact)
