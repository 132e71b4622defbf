"""What models cost: a table with the source and the date of each price, and one sum over a call's tokens.

Law: money is whole micro-units (a millionth of the table's currency). A model that is not in the table is *unpriced*,
counted as such and never as free; a free one stands in the table with a price of 0.

    >>> Prices.shipped().cost("gpt-4o-mini", tokens_in=1000, tokens_out=100)
    210
"""

from __future__ import annotations

import tomllib
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from metnos import plainfile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORM: Final = "metnos.prices/1"
EMPTY: Final[Mapping[str, Price]] = {}
MILLION: Final = 1_000_000
MOST_BYTES: Final = 16 * 1024 * 1024


class PriceFault(Exception):
    """A table of prices that is none.

    Attributes:
        where: The file and the key.
        message: What is wrong there.
        hint: What may stand there.
    """

    code = "bad-prices"

    def __init__(self, where: str, message: str, hint: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where, self.message, self.hint = where, message, hint


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one model, for a million tokens, as decimal text so that nothing is rounded: `"0.15"`."""

    input: str
    output: str
    source: str
    """Where it was read."""
    date: str
    """When, `2026-11-30`."""
    aliases: tuple[str, ...] = ()
    """Other names that the same model goes by in logs."""

    def cost(self, tokens_in: int, tokens_out: int) -> int:
        """Micro-units, rounded to the nearest, a half up."""
        each = (Decimal(self.input) * tokens_in + Decimal(self.output) * tokens_out) * MILLION
        return int((each + MILLION // 2) // MILLION)


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As it is written."""

    form: str
    currency: str
    models: dict[str, Price] = {}


class Prices:
    """A table of prices, asked by any name that a model goes by."""

    def __init__(self, models: Mapping[str, Price] = EMPTY, currency: str = "USD") -> None:
        self.currency = currency
        self.models = dict(models)
        aliases = {alias: price for price in self.models.values() for alias in price.aliases}
        self._named = {**aliases, **self.models}

    @staticmethod
    def shipped() -> Prices:
        """The table that comes with this version."""
        return _shipped()

    def joined(self, other: Prices) -> Prices:
        """This table with what another one says instead or besides.

        Raises:
            PriceFault: It is in another currency.
        """
        if other.models and self.models and other.currency != self.currency:
            raise PriceFault("currency", f"{other.currency} beside {self.currency}", "one currency in one evaluation")
        return Prices({**self.models, **other.models}, other.currency)

    def cost(self, model: str, tokens_in: int, tokens_out: int) -> int | None:
        """Micro-units of one or more calls; None: no price is known for this model."""
        price = self._named.get(model)
        return None if price is None else price.cost(tokens_in, tokens_out)


@lru_cache(maxsize=1)
def _shipped() -> Prices:
    return read_prices(files("metnos.evaluate.measures").joinpath("prices.toml").read_bytes(), "prices.toml")


def load_prices(path: Path) -> Prices:
    """The shipped table, with what a file says instead or besides.

    Raises:
        PriceFault: The file cannot be read, or is no such table.
    """
    try:
        data = plainfile.read(path, MOST_BYTES)
    except OSError as fault:
        raise PriceFault(str(path), fault.strerror or str(fault), "give the path of a file of prices") from fault
    return Prices.shipped().joined(read_prices(data, path.name))


def read_prices(data: bytes, name: str) -> Prices:
    """A table from the bytes of its file.

    Raises:
        PriceFault: It is no such table.
    """
    hint = f"form = {FORM!r}, currency, and models.NAME with input, output, source and date"
    try:
        body: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        prices = msgspec.convert(body, _Table)
    except (ValueError, msgspec.ValidationError) as fault:
        raise PriceFault(name, str(fault), hint) from fault
    if prices.form != FORM:
        raise PriceFault(f"{name}: form", f"{prices.form!r}", hint)
    for model, price in prices.models.items():
        for field in ("input", "output"):
            _require_amount(f"{name}: models.{model}.{field}", getattr(price, field))
    return Prices(prices.models, prices.currency)


def _require_amount(where: str, text: str) -> None:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise PriceFault(where, f"{text!r} is no price", "decimal text, for a million tokens")
