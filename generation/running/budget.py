"""What calls cost: prices from a dated, maintained list or given by hand, and a limit that stops a run."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from generation.errors import ModelError, UsageError
from generation.llm import Chat, Reply, Request
from generation.records import Usage

MILLION = 1_000_000
_CHARS_PER_TOKEN = 4
_COMPLETION_TOKENS = 300
_PROBE = 1000  # tokens; small enough for the first step of prices that rise with the prompt's length


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; `cached` is for prompt tokens that the provider's cache served."""

    prompt: float
    completion: float
    cached: float
    source: str

    def of(self, usage: Usage) -> float:
        """Dollars for `usage`."""
        fresh = usage.prompt_tokens - usage.cached_tokens
        dollars = fresh * self.prompt + usage.cached_tokens * self.cached + usage.completion_tokens * self.completion
        return dollars / MILLION


def by_hand(prompt: float, completion: float, cached: float | None = None) -> Price:
    """A price from the command line; cached tokens cost like fresh ones unless said otherwise."""
    if min(prompt, completion, cached or 0) < 0:
        raise UsageError("A price cannot be negative.")
    return Price(prompt, completion, prompt if cached is None else cached, "given by hand")


def listed(model: str, base_url: str, batch: bool = False) -> Price | None:
    """The price of `model` at the provider behind `base_url`, None where the list does not know it.

    `batch` asks for that of batch jobs; where the list has none the live one stands in, and `source` says so.
    """
    from genai_prices import Usage as Tokens
    from genai_prices import calc_price

    def per_million(tokens: Tokens, context: dict[str, str] | None) -> float:
        price = calc_price(tokens, model_ref=model, provider_api_url=base_url, price_context=context)
        return float(price.total_price) * MILLION / _PROBE

    def of(context: dict[str, str] | None) -> tuple[float, float, float]:
        asked, answered = Tokens(input_tokens=_PROBE), Tokens(output_tokens=_PROBE)
        cached = Tokens(input_tokens=_PROBE, cache_read_tokens=_PROBE)
        return per_million(asked, context), per_million(answered, context), per_million(cached, context)

    source = f"genai-prices {version('genai-prices')}"
    try:
        live = of(None)
        if not batch:
            return Price(*live, source)
        prices = of({"processing": "batch"})
    except LookupError:
        return None
    return Price(*prices, f"{source}, {'batch' if prices != live else 'live: it lists none for batch jobs'}")


def guess(price: Price | None, request: Request) -> float:
    """Dollars that a call may cost, by its length and a usual answer; 0 without a price."""
    if price is None:
        return 0.0
    characters = sum(len(message.get("content", "")) for message in request.messages)
    return price.of(Usage(1, characters // _CHARS_PER_TOKEN, 0, _COMPLETION_TOKENS))


class Metered:
    """A chat that adds up what the calls cost and says when `max_usd` is spent.

    `spent` starts with what earlier sessions of the same run have paid. Calls in flight when the limit is reached are
    let finish, so that the sum may pass the limit by their cost. Replies that came from a journal are not seen here.
    """

    def __init__(
        self, chat: Chat, price: Price, max_usd: float | None, on_spent: Callable[[str], None], spent: float = 0.0
    ) -> None:
        self.chat = chat
        self.price = price
        self.max_usd = max_usd
        self.spent = spent
        self._on_spent = on_spent
        self._check()

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        try:
            reply = await self.chat(request)
        except ModelError as error:
            if error.reply is not None:
                self._add(error.reply.usage)
            raise
        self._add(reply.usage)
        return reply

    @property
    def spare(self) -> float:
        """Dollars left."""
        return float("inf") if self.max_usd is None else self.max_usd - self.spent

    def _add(self, usage: Usage) -> None:
        self.spent += self.price.of(usage)
        self._check()

    def _check(self) -> None:
        if self.max_usd is not None and self.spent >= self.max_usd:
            self._on_spent(f"${self.spent:.4f} of ${self.max_usd:.2f} are spent.")
