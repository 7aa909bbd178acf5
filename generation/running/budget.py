"""What calls cost: prices from a dated, maintained list or given by hand, and a limit that stops a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from math import inf

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


@dataclass(frozen=True, slots=True)
class Tariff:
    """What the calls of a run cost: `price` is the model's, `others` that of another model by the role it plays.

    `models` names those other models by role.
    """

    price: Price
    others: Mapping[str, Price] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    def at(self, role: str) -> Price:
        return self.others.get(role, self.price)

    def of_paid(self, paid: Mapping[str, Usage]) -> float:
        """Dollars for what a journal holds, by identity (an endpoint, a space and a model)."""
        by_model = {self.models[role]: price for role, price in self.others.items()}
        return sum(by_model.get(who.partition(" ")[2], self.price).of(usage) for who, usage in paid.items())


def by_hand(prompt: float, completion: float, cached: float | None = None) -> Price:
    """A price from the command line; cached tokens cost like fresh ones unless said otherwise."""
    if not all(0 <= price < inf for price in (prompt, completion, cached or 0)):
        raise UsageError("A price is a number from 0.")
    return Price(prompt, completion, prompt if cached is None else cached, "given by hand")


def from_flag(text: str | None) -> Price | None:
    """The price in "prompt,completion" or "prompt,completion,cached"; None for None. Raises UsageError otherwise."""
    if text is None:
        return None
    try:
        prompt, completion, *cached = [float(part) for part in text.split(",")]
        return by_hand(prompt, completion, *cached)
    except (ValueError, TypeError):
        raise UsageError(f'--prices takes two or three numbers such as "2.5,10,1.25", not "{text}".') from None


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


def all_spent(spent: float, max_usd: float) -> str:
    """Why a run stops that has spent what it may."""
    return f"${spent:.4f} of ${max_usd:.{2 if max_usd >= 0.01 else 4}f} are spent."


class Purse:
    """Adds up what a run costs and says when `max_usd` is spent; `spent` starts with what earlier sittings have paid.

    Calls in flight when the limit is reached are let finish, so that the sum may pass the limit by their cost.
    """

    def __init__(self, max_usd: float | None, on_spent: Callable[[str], None], spent: float = 0.0) -> None:
        self.max_usd = max_usd
        self.spent = spent
        self._on_spent = on_spent
        self._check()

    @property
    def spare(self) -> float:
        """Dollars left."""
        return float("inf") if self.max_usd is None else self.max_usd - self.spent

    def pay(self, price: Price, usage: Usage) -> None:
        """Take what a call costs. One whose tokens the server does not count cannot be held against a limit."""
        if self.max_usd is not None and price.prompt and not usage.prompt_tokens:
            self._on_spent("the server counts no tokens, so --max-usd cannot be kept: leave it out.")
        self.spent += price.of(usage)
        self._check()

    def _check(self) -> None:
        if self.max_usd is not None and self.spent >= self.max_usd:
            self._on_spent(all_spent(self.spent, self.max_usd))


class Metered:
    """A chat whose calls are paid from `purse`; replies that came from a journal are not seen here."""

    def __init__(self, chat: Chat, price: Price, purse: Purse) -> None:
        self.chat = chat
        self.price = price
        self.purse = purse

    @property
    def identity(self) -> str:
        return self.chat.identity

    async def __call__(self, request: Request) -> Reply:
        try:
            reply = await self.chat(request)
        except ModelError as error:
            if error.reply is not None:
                self.purse.pay(self.price, error.reply.usage)
            raise
        self.purse.pay(self.price, reply.usage)
        return reply
