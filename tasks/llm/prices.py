"""Which model is asked for what, and what it costs.

Prices come from the settings first, then from the list that comes with pydantic-ai, which is read offline. A model on
this machine or its network, and a program that a subscription pays for, cost nothing.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from config.models import COMPATIBLE, PROGRAMS, ModelName, Price, parse_model, parse_price
from config.settings import Settings
from tasks.llm.ask import Role

FREE = Price(0.0, 0.0)
_LOCAL_NAMES = (".local", ".localhost", ".internal", ".lan", ".home.arpa")
_MILLION = 1_000_000


def model_for(role: Role, settings: Settings) -> ModelName | None:
    """The model that a role uses: its own, else the one of `model`; None when none is set."""
    text: str = getattr(settings.roles, role.value) or settings.model
    return parse_model(text) if text else None


def price_of(model: ModelName, settings: Settings) -> Price | None:
    """A model's price; None when nobody knows it."""
    table = dict(parse_price(line) for line in settings.budget.prices)
    for name in (model.full, model.name):
        if name and name in table:
            return table[name]
    return FREE if is_local(model, settings) else _listed(model)


def is_local(model: ModelName, settings: Settings) -> bool:
    """Whether a model costs nothing by itself: it runs on this machine or network, or a subscription pays for it."""
    if model.provider in PROGRAMS:
        return True
    return model.provider == COMPATIBLE and is_near(settings.endpoint.base_url)


def is_near(address: str) -> bool:
    """Whether an address leads to this machine or its own network, by its name alone."""
    host = urlsplit(address).hostname or ""
    try:
        place = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_LOCAL_NAMES)
    return place.is_loopback or place.is_private or place.is_link_local


def _listed(model: ModelName) -> Price | None:
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    try:
        only_in = calc_price(Usage(input_tokens=_MILLION, output_tokens=0), model.name, provider_id=model.provider)
        only_out = calc_price(Usage(input_tokens=0, output_tokens=_MILLION), model.name, provider_id=model.provider)
    except LookupError:
        return None
    return Price(float(only_in.total_price), float(only_out.total_price))
