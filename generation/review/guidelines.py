"""What people are told before they judge: the rules that the prompts give, and the nine reasons to reject.

Source: Grzywinski et al. 2023, section 3.2.4 (people had the GENERATOR's guidelines) and Table 2 (the reasons).
"""

import re
from pathlib import Path

from generation.errors import PromptError
from generation.prompts import FOLDER

REASONS = {
    "irrelevant_sentences": ("Sentence not needed", "a marked sentence can go, and question and answer still stand"),
    "missing_sentences": ("Sentence missing", "an unmarked sentence is needed to be sure of the answer"),
    "formatting": ("Badly formed", "grammar, spelling or markup is off, or a sentence was split wrongly"),
    "incomplete_answer": (
        "Answer incomplete",
        "the answer is vague, leaves something out, or does not fit the question",
    ),
    "ambiguous_question": ("Question ambiguous", "it can be read in two ways, or not understood by itself"),
    "coreference_error": ("Coreference wrong", "a link joins two different things, or no link is needed at all"),
    "wrong_information": ("Information wrong", "question or answer says what the passage does not"),
    "compound_question": ("Several questions", "more than one thing is asked"),
    "other": ("Other", "something else: say what in the note"),
}
"""{problem code: (a name of two or three words, when it applies)}, in the order of PROBLEM_CODES."""

_COMMENT = re.compile(r"<!--.*?-->[ \t]*", re.DOTALL)


def default_guidelines(folder: Path = FOLDER) -> str:
    """Guidelines in Markdown: the rules in `folder`'s generator.md, as that prompt has them, and how to judge by them.

    Raises PromptError if that prompt has no section called "Rules".
    """
    path = folder / "generator.md"
    try:
        text = _COMMENT.sub("", path.read_text(encoding="utf-8")).replace("$$", "$")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"{path} cannot be read; name guidelines of your own with --guidelines.") from error
    rules = re.search(r"^## Rules\n(.*?)(?=^## Answer|\Z)", text, re.MULTILINE | re.DOTALL)
    if not rules:
        raise PromptError(f'{path} has no section "Rules"; name guidelines of your own with --guidelines.')
    reasons = "\n".join(f"{i}. **{name}**: {when}." for i, (name, when) in enumerate(REASONS.values(), 1))
    return (
        f"{_JUDGING}\n## Reasons to reject\n\n{reasons}\n\n## What the author of the pair was told\n{rules[1]}".rstrip()
    )


_JUDGING = """\
## How to judge

Read the passage first, then the question, then the answer.

- Accept if the question can be answered from the marked sentences, needs every one of them, and needs no other.
- Cover each marked sentence in turn: without it, the answer must be lost, or no longer sure.
- Check every link that is drawn: do both ends mean the same thing?
- Otherwise reject, with every reason that applies. A note helps whoever reads your vote.
- If a small change would mend the pair, reject it and offer the change: it becomes a new pair, which two others read.
- Judge by the passage, not by what you know, and do not talk about a pair before you both have voted.
"""
