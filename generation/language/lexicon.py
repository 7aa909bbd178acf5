"""Small word lists: what kind of thing a noun names, and what verbs and modifiers do to a question.

Own lists, written for this project; only the first names come from elsewhere (`first_names.json` says where).
"""

import json
from functools import cache
from pathlib import Path


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NOUN_KINDS: dict[str, frozenset[str]] = {
    "law": _set(
        "act law statute bill code amendment treaty convention constitution directive ordinance regulation legislation "
        "charter resolution decree protocol agreement accord rule proclamation pact provision"
    ),
    "org": _set(
        "agency company corporation commission committee court bureau department ministry council board bank firm "
        "university college school institute institution organization organisation party union association society "
        "foundation group band team club network authority service administration office army navy police government "
        "congress parliament senate legislature church manufacturer retailer publisher studio label airline newspaper "
        "magazine channel broadcaster tribunal trust charity league federation fund regulator subsidiary startup "
        "museum hospital circuit orchestra coalition movement exchange utility brewery laboratory registry"
    ),
    "work": _set(
        "film movie album song single novel book series show play opera game episode video poem painting documentary "
        "sequel memoir musical record symphony comic soundtrack mixtape sitcom report thesis essay anthology sculpture "
        "biography journal website app platform software"
    ),
    "place": _set(
        "city town village county district province region state country island river lake mountain park bridge tower "
        "palace castle building cathedral temple port airport station road street stadium theatre theater monument "
        "capital municipality territory republic kingdom canal dam plant prison hotel library valley desert volcano "
        "peninsula settlement community neighborhood neighbourhood campus reactor mine"
    ),
    "event": _set(
        "storm hurricane typhoon cyclone earthquake war battle election tournament festival championship ceremony "
        "season conference contest race match attack explosion strike crash flood disaster pandemic crisis revolution "
        "treaty referendum competition game trial case fire depression system event queue lying-in-state collision "
        "incident murder operation campaign scandal protest summit award prize trophy medal"
    ),
    "thing": _set(
        "ship aircraft airplane plane helicopter train vehicle car engine missile rocket satellite spacecraft "
        "telescope drug vaccine disease virus bacterium species genus plant animal language system "
        "method theory device "
        "machine product program programme project scheme plan policy tax treaty doctrine principle "
        "test vessel submarine tank "
        "horse dog trophy award prize medal format brand mineral element compound gene protein algorithm protocol"
    ),
    "person": _set(
        "man woman boy girl actor actress author writer poet novelist singer rapper musician composer painter artist "
        "physicist chemist biologist scientist historian economist philosopher mathematician engineer architect "
        "politician senator congressman congresswoman governor mayor president minister chancellor king queen prince "
        "princess emperor pope bishop priest judge justice lawyer attorney director producer player coach manager "
        "footballer boxer athlete swimmer skater dancer doctor physician surgeon nurse teacher professor general "
        "admiral officer soldier pilot astronaut explorer inventor founder printer publisher journalist reporter "
        "editor activist dancer model designer chef comedian widow wife husband mother father son daughter brother "
        "sister victim suspect student scholar critic guitarist drummer bassist vocalist songwriter "
        "playwright filmmaker "
        "businessman businesswoman entrepreneur commissioner secretary ambassador diplomat spokesman spokeswoman "
        "spokesperson chairman chairwoman leader candidate champion winner employee worker lawmaker representative "
        "duke duchess earl baron lord lady knight saint monk nun rabbi imam farmer merchant driver resident citizen "
        "lender borrower landlord tenant employer consumer applicant investor creditor debtor voter patient child "
        "people member official person someone anyone plaintiff defendant petitioner individual veteran farmer user "
        "renegade rebel troop gunman militant terrorist insurgent pirate guerrilla critic scout crowd "
        "police peasant slave "
        "agent official banker trader miner planter settler delegate inspector astronomer naturalist "
        "audience viewer listener reviewer fan parent owner witness juror buyer seller licensee operator teenager "
        "adult refugee immigrant prisoner client"
    ),
}

SYNONYMS: tuple[frozenset[str], ...] = tuple(
    map(
        _set,
        (
            "act law statute legislation bill measure",
            "treaty convention agreement accord pact",
            "company firm corporation business manufacturer retailer enterprise maker",
            "band group duo trio quartet ensemble",
            "agency commission bureau administration department authority board body regulator office service",
            "university college school institution institute",
            "organization organisation group association society foundation church ministry charity network union",
            "film movie picture", "album record ep lp", "song single track", "novel book", 
            "series show sitcom programme",
            "storm hurricane typhoon cyclone system depression", "earthquake quake tremor",
            "city town municipality", "village settlement", "ship vessel boat liner frigate destroyer battleship",
            "aircraft plane airplane aeroplane jet airliner", "country nation republic", "church cathedral",
            "court tribunal", "newspaper paper daily", "team club side franchise", "platform app",
            "train express", "award prize trophy", "bank lender", "palace castle building residence",
            "drug medication medicine",
            "bridge crossing", "committee panel", "airline carrier", "journal magazine periodical",
        ),
    )
)  # fmt: skip
"""Nouns that one text uses for one thing."""

PERSON_LIKE = _set(
    "skeptic sceptic cleric mechanic assassin foreman foremen captain clerk cook guard heir martyr mob spy thief twin "
    "couple majority staff carrier salesman"
)
"""Nouns of people, beside those in NOUN_KINDS, that asking needs to know."""

LEADING_NOUNS = _set(
    "storm hurricane cyclone typhoon depression lake river mount operation project reactor ship submarine tropical "
    "university bank church museum palace castle republic kingdom province county"
)
"""Nouns that stand before what they name: "Hurricane Hilary", "Lake Erie"."""

MASCULINE = _set(
    "man boy actor king prince emperor pope priest bishop congressman businessman husband father son brother duke earl "
    "baron lord knight monk chairman spokesman uncle nephew grandfather mr sir mr. count"
)
FEMININE = _set(
    "woman girl actress queen princess empress congresswoman businesswoman wife mother daughter sister widow duchess "
    "countess lady nun chairwoman spokeswoman aunt niece grandmother mrs ms miss mrs. ms. dame"
)
TITLES = _set(
    "mr mrs ms miss dr sir dame lord lady president senator governor judge justice king queen prince princess pope "
    "professor general colonel captain mr. mrs. ms. dr. prof. gen. col. sen. rep. gov."
)

GENERIC_NAMES = _set(
    "act acts law court government president congress house senate state states committee commission board council "
    "party union bill section article title chapter code department agency secretary minister parliament republic "
    "university school church army navy police company group north south east west internet earth sun moon god bible "
    "english french german american british january february march april may june july august september october "
    "november december monday tuesday wednesday thursday friday saturday sunday note example figure table part season "
    "volume episode others federal national world city county district supreme constitution administration treasury "
    "attorney general division division convention rule regulation amendment association service corporation"
)
"""Capitalised words that do not name anything outside their passage when they stand alone."""

UNIQUE_NOUNS = _set(
    "world country public press sea ocean sky sun moon internet web poor rich north south east west past future "
    "century market economy government nation president time day night summer winter spring autumn fall morning "
    "evening air ground earth population ballot senate congress"
)
"""Nouns that need nothing beside "the" to be understood."""

KNOWN_GROUPS = _set(
    "state court colony police nation tribe school farmer worker worker voter woman man child poor law newspaper press "
    "people party lawyer judge bank railroad employer union medium company soldier government citizen student teacher"
)
"""Nouns that mean all of their kind in the plural with "the": "the states", "the courts"."""

KNOWN_NAMES = frozenset(
    ("supreme court", "congress", "white house", "house of representatives", "parliament", "federal reserve board",
     "justice department", "state department", "treasury department", "national guard", "united nations")
)  # fmt: skip
"""Names of generic words that readers know all the same."""

MONTHS = frozenset("January February March April May June July August September October November December".split())

DEEDS_OF_LAWS = frozenset(
    "require prohibit ban forbid allow permit authorize regulate apply define impose establish create grant give "
    "provide limit restrict cover protect exempt repeal amend replace extend end abolish set entitle direct guarantee "
    "outlaw become expire bar bind oblige make take govern mandate forbid let raise lower reduce exclude "
    "specify".split()
)
"""Verbs of what laws do."""

COUNTRIES = frozenset(
    w.replace("_", " ")
    for w in "france germany italy spain portugal england scotland wales ireland britain great_britain united_kingdom "
    "united_states netherlands belgium luxembourg switzerland austria hungary poland ukraine russia soviet_union "
    "romania bulgaria greece turkey serbia croatia yugoslavia czechoslovakia denmark norway sweden finland iceland "
    "estonia latvia lithuania canada mexico cuba brazil argentina chile peru colombia venezuela bolivia ecuador panama "
    "china japan india pakistan bangladesh iran iraq israel egypt syria lebanon jordan saudi_arabia kuwait afghanistan "
    "vietnam thailand indonesia malaysia singapore philippines south_korea north_korea taiwan australia new_zealand "
    "nigeria ghana kenya ethiopia south_africa morocco algeria tunisia libya sudan uganda tanzania zimbabwe".split()
)
"""Countries, so that "Which country ...?" can ask for them."""

LIGHT_VERBS = _set(
    "be have do get make take give go come put let keep see say tell seem become bring include contain involve feature "
    "want like try mean begin start continue think feel appear remain"
)
"""Verbs whose direct object makes too vague a question."""

WEAK_VERBS = _set(
    "show know need consider use find set add note serve face experience represent hold carry follow reach suffer mark "
    "state express cause lead receive provide"
)
"""Verbs whose direct object is worth asking for only if the question says more than the verb."""

VAGUE_NOUNS = _set("part number lot series way thing place role amount variety first most time example fact")
"""Nouns that make neither a good answer nor a good question."""

REPEATED_VERBS = _set(
    "release win receive record play write publish produce direct perform visit meet appear star release sign score "
    "beat defeat lose earn sell buy open attend join teach help support develop create offer provide cover address "
    "describe call discuss report suggest"
)
"""Verbs that are often true of several objects: they need a specifying complement or the confidence falls."""

THAT_VERBS = _set(
    "claim argue rule hold conclude find state declare announce report warn estimate allege decide determine reveal "
    "confirm provide require specify suggest believe predict recommend propose insist deny maintain ensure concede "
    "acknowledge admit object reason contend complain remark observe assert testify emphasize stress explain note "
    "charge demand order write reply add fear hope promise think"
)
CONTROL_VERBS = _set(
    "require oblige allow permit authorize authorise direct order enable force instruct empower compel encourage "
    "forbid ask urge entitle help bind let"
)
GOVERNED = frozenset(
    {
        ("apply", "to"), ("consist", "of"), ("belong", "to"), ("depend", "on"), ("refer", "to"), ("lead", "to"),
        ("result", "in"), ("focus", "on"), ("rely", "on"), ("deal", "with"), ("specialize", "in"),
        ("specialise", "in"), ("participate", "in"), ("contribute", "to"), ("extend", "to"), ("respond", "to"),
        ("object", "to"), ("merge", "with"), ("convert", "to"), ("withdraw", "from"), ("graduate", "from"),
        ("suffer", "from"), ("originate", "from"), ("base", "on"), ("comprise", "of"), ("compose", "of"),
        ("name", "after"), ("name", "for"),
        ("replace", "with"), ("enforce", "against"), ("collaborate", "with"), ("resign", "from"),
        ("report", "to"), ("know", "as"), ("derive", "from"), ("divide", "into"), ("compete", "in"), ("convict", "of"),
        ("charge", "with"), ("accuse", "of"), ("limit", "to"), ("restrict", "to"), ("model", "on"), ("rename", "as"),
        ("diagnose", "with"), ("affiliate", "with"), ("house", "in"), ("amount", "to"), ("aim", "at"),
        ("appoint", "as"), ("serve", "as"), ("work", "as"), ("describe", "as"), ("classify", "as"), ("regard", "as"),
        ("act", "as"), ("elect", "as"), ("use", "as"), ("designate", "as"), ("hire", "as"), ("recruit", "as"),
        ("criticize", "for"), ("criticise", "for"), ("praise", "for"), ("blame", "for"), ("fine", "for"),
        ("arrest", "for"), ("know", "for"), ("nominate", "for"), ("award", "for"), ("campaign", "for"),
        ("prevent", "from"), ("protect", "from"), ("protect", "against"), ("fight", "against"), ("join", "as"),
        ("major", "in"), ("enrol", "in"), ("enroll", "in"), ("enroll", "at"), ("study", "at"), ("invest", "in"),
        ("compare", "to"), ("link", "to"), ("connect", "to"), ("add", "to"), ("sell", "to"), ("lose", "to"),
    }
)  # fmt: skip
"""Verbs with the preposition they govern, so that its object can be asked for."""
IDIOMS = frozenset(
    {("join", "force"), ("hold", "office"), ("take", "part"), ("take", "place"), ("play", "role"), ("pay", "tribute"),
     ("pay", "attention"), ("play", "part"), ("cast", "doubt"), ("lose", "control"), ("open", "fire")}
)  # fmt: skip
"""Verbs with an object that cannot be asked for."""
INTEND_VERBS = _set(
    "agree decide refuse plan seek attempt promise vow pledge intend aim choose offer threaten vote decline"
)
COMPLEMENT_VERBS = _set("consider deem regard label term render define")
"""Verbs that say little of their object without a word on what it is held to be."""
PURPOSE_VERBS = _set(
    "create establish found design build use pass enact form launch introduce write develop hold organize organise "
    "sign adopt set intend name meet travel open install construct fund deploy pay resign leave enlist return amend"
)
DURATIVE_VERBS = _set(
    "serve live work remain stay rule reign teach play run last hold govern operate lead train study practise practice "
    "imprison detain ban suspend reside occupy chair sit coach command edit exist continue"
)
MOTION_VERBS = _set("move travel relocate emigrate return flee migrate transfer sail fly deport immigrate retire send")
MONEY_VERBS = _set("make gross earn cost raise pay spend receive donate invest lose collect save generate sell")
PLACE_VERBS = _set(
    "bear base locate situate headquarter hold raise bury film shoot build live reside grow educate study found "
    "establish station intern settle die crash land take place manufacture record arrest detain sit stand meet operate "
    "work move open dissipate form originate arise begin premiere exhibit display publish print sink house teach"
)

CONTEXT_WORDS = _set(
    "this that these those such former latter other another same there here then thus therefore however later earlier "
    "following next previous above below respectively instead again too similarly likewise afterwards subsequently "
    "meanwhile additional further others one ones else both either neither first-mentioned aforementioned said "
    "two-fold today yesterday tomorrow now currently recently formerly previously next soon finally eventually "
    "new related resulting corresponding respective second third occasion so more less remaining rest latter latest"
)
"""Words that lean on what was said before; they do not belong into a question that must stand alone."""

ADJUNCT_PREPOSITIONS = _set(
    "in on at during after before since until despite following by under along amid due because throughout within "
    "per according alongside upon besides unlike like beyond between around near"
)
"""Prepositions whose phrase a question can do without; the others open what the verb or its object needs."""

LINKING_PHRASES = frozenset(
    ("in", noun) for noun in _set("consequence turn return response reply addition contrast effect person private fact")
) | frozenset(("at", noun) for noun in _set("home once first last least work hand")) | {
    ("by", "then"), ("for", "example"), ("for", "instance"), ("as", "well"), ("on", "appeal"), ("in", "disgust"),
}  # fmt: skip
"""Phrases of two words that point back at the context; a question does without them."""

DROPPED_ADVERBS = _set(
    "also however later then subsequently additionally furthermore moreover eventually finally further soon thus "
    "therefore meanwhile instead similarly likewise nevertheless nonetheless afterwards accordingly consequently "
    "ultimately currently recently previously formerly now still already initially originally again even just only too "
    "thereafter hence indeed besides today shortly"
)
"""Adverbs that a question does without."""

HEDGES = _set(
    "nearly almost barely hardly scarcely partly partially allegedly reportedly supposedly possibly probably rarely "
    "mostly largely chiefly mainly primarily principally generally fully usually virtually practically "
    "effectively apparently seemingly purportedly roughly approximately "
    "never seldom sometimes often half"
)
"""Adverbs without which a statement is no longer true."""

PLEONASTIC_VERBS = _set("seem appear happen turn rain snow follow matter suffice emerge take")

PRONOUN_GENDER = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "hers": "f", "it": "n", "its": "n",
    "they": "p", "them": "p", "their": "p",
}  # fmt: skip

PERSONAL_PRONOUNS = _set(
    "i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself himself "
    "herself itself themselves ourselves who whom whose"
)


@cache
def noun_kind(noun: str) -> str:
    """The kind of thing that a lower-case noun names ("law", "org", "work", "place", "event", "person", ...) or ""."""
    return next((kind for kind, nouns in NOUN_KINDS.items() if noun in nouns), "")


def may_be_person(noun: str) -> bool:
    """Does a noun that is in no list look like a person's ("assassin", "typist")?"""
    return is_person_like(noun) or noun.endswith(("or", "er", "ant", "ee"))


def is_person_like(noun: str) -> bool:
    """The same, where nothing else ends so."""
    return noun in PERSON_LIKE or noun.endswith(("ist", "ian", "eer", "man", "woman", "smith"))


def are_synonyms(noun: str, other: str) -> bool:
    return any(noun in group and other in group for group in SYNONYMS)


@cache
def first_names(only_common: bool = False) -> dict[str, str]:
    """First names (lower case) to "m" or "f"; names borne by both are left out.

    Many rare first names are surnames too, so that one that stands alone tells its bearer's sex only if it is common.
    """
    stored = json.loads(Path(__file__).with_name("first_names.json").read_text(encoding="utf-8"))
    groups = (stored["common"],) if only_common else (stored["common"], stored["rare"])
    return {name: gender for group in groups for gender in ("m", "f") for name in group[gender].split()}
