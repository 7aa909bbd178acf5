"""Every error that CRaQAn raises on purpose, drawn as a tree.

    CraqanError                  the base: `except CraqanError` catches all of ours
     +- Abstention               the generator has nothing to offer for this section
     +- UsageError               the call was wrong: a flag, a path, a column (exit code 2)
     +- InputError               a file or row cannot be read or breaks the schema
     |   +- CorpusError          an article source: empty, binary, too large, no section left
     |   +- PromptError          a prompt set: missing file, unknown placeholder
     |   |   +- NoPromptsError   its folder does not exist (a UsageError too)
     |   +- InvariantError       a row that breaks an invariant of the dataset
     |   +- GateError            a release that may not go out as it is; carries `findings`
     |   +- JournalError         a journal that is damaged, foreign or locked
     |   |   +- NoJournalError   there is none (a UsageError too)
     |   |   +- ForeignJournalError another program's, or a newer version's
     |   +- BallotError          a vote that cannot be taken: incomplete, too long, for a pair that is not open
     |   +- ReviewError          a review by people: its file is damaged, foreign, locked, or holds other pairs
     |   +- ChunkError           a chunker's spans do not fit the text
     +- PublishError             the Hub did not take a release, or gave back another one
     +- CircuitError             calls fail one after the other: the run stops, to be resumed
     +- ModelError               the model or its server
         +- AuthError            401, 402 or 403: the key or its account
         |   +- NoKeyError       no key is set, or one that no header can carry (a UsageError too)
         +- RequestError         400, 422: the server does not take this request
         |   +- AddressError     404, 405, 3xx: the server knows no such model, or is not at this address
         +- RateLimitError       429 after all retries
         +- ServerError          5xx, or no chat completion, after all retries
         +- ConnectError         no connection, or it broke
         |   +- CertificateError the server's certificate is not trusted
         +- ModelTimeoutError    no answer in time
         +- RefusalError         the model declined to answer
         +- ContentFilterError   the server's filter stopped the answer
         +- LengthError          the answer was cut at the token limit
         +- ReplyError           an answer that cannot be read, after the re-asks; carries `raw`

A message is one sentence that says what to do next. No message ever holds a key.
"""

from typing import Any


class CraqanError(Exception):
    """Base of all errors that CRaQAn raises on purpose."""


class Abstention(CraqanError):
    """The generator has nothing (more) to offer; the section counts as rejected, with this message as its reason."""


class UsageError(CraqanError):
    """The call itself was wrong; the command line exits with 2."""


class InputError(CraqanError):
    """A file or a row that cannot be used as it is."""


class CorpusError(InputError):
    """A source of articles that yields nothing usable."""


class PromptError(InputError):
    """A prompt set that cannot be loaded or rendered."""


class NoPromptsError(PromptError, UsageError):
    """No folder where a prompt set was to be."""


class InvariantError(InputError):
    """A row that breaks an invariant of the dataset."""


class GateError(InputError):
    """A release that one gate or several stop; `findings` is {gate: what it found}."""

    def __init__(self, message: str, findings: dict[str, list[str]] | None = None):
        super().__init__(message)
        self.findings = findings or {}


class PublishError(CraqanError):
    """The Hub refused, was not reached, or holds something else; what is there is not overwritten."""


class JournalError(InputError):
    """A journal that cannot be opened or trusted."""


class BallotError(InputError):
    """A vote that cannot be taken as it is."""


class ReviewError(InputError):
    """A file of a review by people that cannot be opened, trusted or brought together with another."""


class NoJournalError(JournalError, UsageError):
    """No journal where one was to be read."""


class ForeignJournalError(JournalError):
    """A journal of another program or of a newer version, which is never written to nor removed."""


class ChunkError(InputError):
    """A chunker, of ours, of a library or a caller's own, whose spans do not fit the text."""


class CircuitError(CraqanError):
    """No further call is worth sending; what is done is kept, and the same command goes on from there."""


class ModelError(CraqanError):
    """The model or its server did not give a usable answer.

    `raw` is what it did answer, if anything; `retry_after` seconds if the server named them; `code` the server's own
    word for what is wrong. `reply` is the whole `llm.Reply` where an answer came, and was paid, but is of no use.
    """

    def __init__(
        self,
        message: str,
        *,
        raw: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        code: str = "",
        reply: Any = None,
    ):
        super().__init__(message)
        self.raw = raw
        self.status = status
        self.retry_after = retry_after
        self.code = code
        self.reply = reply


class AuthError(ModelError):
    """401, 402 or 403: the key is missing, wrong or not allowed, or its account has no credit."""


class NoKeyError(AuthError, UsageError):
    """No key, so that nothing was asked; the command line exits with 2."""


class RequestError(ModelError):
    """400 or 422: the server does not take this request."""


class AddressError(RequestError):
    """404, 405, 410, 3xx, or a 400 that names the model: there is no such model, or nothing to ask at this address."""


class RateLimitError(ModelError):
    """429 after all retries."""


class ServerError(ModelError):
    """5xx, or an answer that is no chat completion, after all retries."""


class ConnectError(ModelError):
    """The connection could not be made, or broke."""


class CertificateError(ConnectError):
    """The server's certificate is not trusted: asking again does not help."""


class ModelTimeoutError(ModelError):
    """No answer within the time-out."""


class RefusalError(ModelError):
    """The model declined to answer."""


class ContentFilterError(ModelError):
    """The server's content filter stopped the answer."""


class LengthError(ModelError):
    """The answer was cut off at the token limit."""


class ReplyError(ModelError):
    """An answer that still could not be read after the re-asks; `raw` holds it."""
