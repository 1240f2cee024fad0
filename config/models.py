"""How language models and their prices are written in the settings."""

from __future__ import annotations

from dataclasses import dataclass

COMPATIBLE = "openai-compatible"
PROVIDERS = ("anthropic", "openai", "google", COMPATIBLE)
PROGRAMS = ("claude", "opencode")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model: who serves it, and what it is called there (empty: the server's or program's own choice)."""

    provider: str
    name: str = ""

    @property
    def full(self) -> str:
        """As in the settings."""
        return f"{self.provider}:{self.name}" if self.name else self.provider


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Dollars for these tokens."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


def parse_model(text: str) -> ModelName:
    """A model by its name in the settings. Raises ValueError with what is accepted."""
    provider, _, name = text.strip().partition(":")
    if provider in (*PROGRAMS, COMPATIBLE) or (provider in PROVIDERS and name.strip()):
        return ModelName(provider, name.strip())
    raise ValueError(f"Write it as {', '.join(f'{one}:NAME' for one in PROVIDERS)}, {' or '.join(PROGRAMS)}.")


def parse_price(line: str) -> tuple[str, Price]:
    """A line of `budget.prices`: a model's name and two numbers. Raises ValueError."""
    name, coming_in, going_out = line.replace(",", " ").split()
    price = Price(float(coming_in), float(going_out))
    if not (0 <= price.input < float("inf") and 0 <= price.output < float("inf")):
        raise ValueError(line)
    return name, price
