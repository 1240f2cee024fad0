"""What models may cost: caps that hold over runs, days, processes and crashes."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.load import parse_settings
from config.models import ModelName, Price
from config.settings import Budget
from storage.spending import Spending
from tasks.llm.ask import Kind, ModelError, Role
from tasks.llm.backend import Call, Completion
from tasks.llm.budget import Usage
from tasks.llm.client import Client, Served
from tasks.llm.estimate import PlannedCalls, estimate, worth_asking
from tasks.llm.prices import price_of
from tests.llm_backends import PROMPT, Echo, Facts
from tests.web import FakeClock

ROOT = Path(__file__).resolve().parents[1]
MORNING = 1_800_000_000.0  # 2027-01-15, 08:00 UTC
CALL = Usage(1, 900, 100, 0.25)


def purse(tmp_path: Path, run: str = "r1", clock: FakeClock | None = None, **caps: float) -> Spending:
    return Spending(tmp_path, run, Budget(**{"day_money": 0, **caps}), clock=clock or FakeClock(MORNING))


def booked(purse: Spending, most: Usage = CALL) -> int:
    """Calls until a cap forbids one, each costing what was booked; at most 20."""
    for number in range(20):
        try:
            purse.settle(purse.book("write", "m", most), most)
        except ModelError as error:
            assert error.kind == Kind.BUDGET and "no further call" in error.reason
            return number
    return 20


@pytest.mark.parametrize(("caps", "calls"), [
    ({}, 20), ({"run_tokens": 3500}, 3), ({"day_tokens": 5000}, 5), ({"run_money": 1.0}, 4), ({"day_money": 0.7}, 2),
    ({"run_money": 0.2}, 0), ({"run_tokens": 1000, "day_money": 9}, 1),
])
def test_caps_are_checked_before_each_call(tmp_path: Path, caps: dict[str, float], calls: int) -> None:
    """No call is booked that could pass a cap."""
    assert booked(purse(tmp_path, **caps)) == calls


def test_free_calls_meet_no_cap_on_money(tmp_path: Path) -> None:
    """A local model goes on when the money is spent."""
    spent = purse(tmp_path, run_money=0.3)
    assert booked(spent) == 1
    assert booked(spent, Usage(1, 900, 100)) == 20


def test_a_day_counts_all_its_runs_and_ends_at_midnight_of_the_wiki(tmp_path: Path) -> None:
    """A new run meets the day's cap, a new day does not; a run's own cap goes over midnight."""
    clock = FakeClock(MORNING + 15 * 3600)  # 23:00 UTC, and midnight in Berlin
    assert booked(purse(tmp_path, "r1", FakeClock(MORNING), day_tokens=3000, run_tokens=5000)) == 3
    assert booked(purse(tmp_path, "r2", clock, day_tokens=3000)) == 0
    late = Spending(tmp_path, "r3", Budget(day_money=0, day_tokens=3000, run_tokens=4000), "Europe/Berlin", clock)
    assert booked(late) == 3
    clock.time += 24 * 3600
    assert booked(late) == 1


def test_what_was_not_used_is_free_again(tmp_path: Path) -> None:
    """A call counts with what it used once it is over."""
    spent = purse(tmp_path, run_tokens=2000)
    ticket = spent.book("write", "m", CALL)
    spent.settle(ticket, Usage(1, 10, 10))
    assert spent.today().run == Usage(1, 10, 10) and booked(spent) == 1


def test_a_call_that_a_crash_cut_off_counts_in_full(tmp_path: Path) -> None:
    """The next run knows of it, and a torn line spoils nothing else."""
    purse(tmp_path, "r1").book("write", "m", CALL)
    file = next((tmp_path / "spending").glob("*.jsonl"))
    file.write_bytes(file.read_bytes() + b'{"call": "x", "ru')
    assert booked(purse(tmp_path, "r2", day_tokens=2500)) == 1
    assert purse(tmp_path, "r3").today().day.tokens == 2000


def test_a_day_over_midnight_settles_where_it_was_booked(tmp_path: Path) -> None:
    """A call that began before midnight burdens the day on which it began."""
    clock = FakeClock(MORNING + 15.99 * 3600)
    spent = purse(tmp_path, clock=clock)
    ticket = spent.book("write", "m", CALL)
    clock.time += 600
    spent.settle(ticket, Usage(1, 1, 1))
    assert (spent.today().day, spent.today().run) == (Usage(), Usage(1, 1, 1))


def test_minutes_end_a_run_and_a_day(tmp_path: Path) -> None:
    """Time counts from a run's first call; a day adds up its runs."""
    clock = FakeClock(MORNING)
    spent = purse(tmp_path, "r1", clock, run_minutes=10, day_minutes=15)
    assert booked(spent) == 20
    clock.time += 11 * 60
    assert booked(spent) == 0
    second = purse(tmp_path, "r2", clock, run_minutes=10, day_minutes=15)
    assert booked(second) == 20
    clock.time += 5 * 60
    assert booked(second) == 20  # the first run's last call was long ago: its eleven minutes were never asked in
    clock.time += 11 * 60
    assert booked(second) == 0


def test_calls_at_once_do_not_pass_a_cap_together(tmp_path: Path) -> None:
    """Threads of two runs and another process share the day's cap."""
    code = ("import sys; from pathlib import Path; from tests.test_llm_budget import *\n"
            "sys.exit(booked(purse(Path(sys.argv[1]), 'other', day_tokens=12000)))")
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    purses = [purse(tmp_path, f"r{number}", day_tokens=12000) for number in range(2)]
    with ThreadPoolExecutor(6) as pool:
        mine = sum(pool.map(booked, purses * 3))
    assert mine + other.wait(60) == 12


def client(tmp_path: Path, price: Price | None, backend: Echo | None = None, **caps: float) -> Client:
    budget = Budget(**{"day_money": 0, **caps})
    served = Served(ModelName("openai", "m"), backend or Echo(), price)
    endpoint = parse_settings("endpoint:\n  retries: 0\n  max_output_tokens: 1000\n").endpoint
    money = bool(budget.run_money or budget.day_money)
    return Client(dict.fromkeys(Role, served), endpoint, Spending(tmp_path, "r", budget), money)


def test_a_paid_model_stops_at_its_cap(tmp_path: Path) -> None:
    """Each question is priced before it is asked; money and tokens are told."""
    asker = client(tmp_path, Price(1.0, 100.0), run_money=0.25)
    told = []
    for _ in range(5):
        try:
            asker.ask(PROMPT, Facts)
        except ModelError as error:
            told.append(error.kind)
    # The greatest reply costs 0.10, the one that comes 0.0007: what counts is what came.
    assert told == [] and 0.003 < asker.spent.money < 0.01
    tight = client(tmp_path, Price(1.0, 100.0), run_money=0.05)
    with pytest.raises(ModelError, match=r"cap of 0.05 dollars \(budget.run_money\)"):
        tight.ask(PROMPT, Facts)


def test_calls_under_way_are_waited_for_before_a_cap_refuses(tmp_path: Path) -> None:
    """They are booked with their greatest reply; what they leave of it is used by the next ones."""

    class Slow(Echo):
        def complete(self, call: Call) -> Completion:
            time.sleep(0.05)
            return super().complete(call)

    # Two at once fit, and so do eight one after the other.
    asker = client(tmp_path, Price(1.0, 100.0), Slow(), run_tokens=2700)
    with ThreadPoolExecutor(8) as pool:
        assert {reply.title for reply in pool.map(lambda _: asker.ask(PROMPT, Facts), range(8))} == {"Z3"}
    assert asker.spent.calls == 8


def test_an_unknown_price_is_said_when_money_is_capped(tmp_path: Path) -> None:
    """Without a price a cap on money cannot be kept, so nothing is asked; without a cap it is."""
    with pytest.raises(ModelError, match=r"budget\.prices"):
        client(tmp_path, None, day_money=5).ask(PROMPT, Facts)
    assert client(tmp_path, None).ask(PROMPT, Facts).title


@pytest.mark.parametrize(("model", "address", "price"), [
    ("openai-compatible:qwen3", "http://127.0.0.1:11434/v1", Price(0, 0)),
    ("openai-compatible:qwen3", "http://ollama:11434/v1", Price(0, 0)),
    ("openai-compatible:qwen3", "http://192.168.1.7/v1", Price(0, 0)),
    ("openai-compatible:qwen3", "http://nas.local/v1", Price(0, 0)),
    ("openai-compatible:qwen3", "https://api.example.org/v1", None),
    ("openai-compatible:priced", "https://api.example.org/v1", Price(1, 2.5)),
    ("claude", "", Price(0, 0)),
    ("openai:no-such-model", "", None),
])
def test_prices(model: str, address: str, price: Price | None) -> None:
    """Local models and subscriptions are free, the settings' table counts first, and the rest is not made up."""
    lines = f"budget:\n  prices: [openai-compatible:priced 1 2.5]\nmodel: {model}\nendpoint:\n  base_url: '{address}'\n"
    settings = parse_settings(lines)
    assert price_of(ModelName(*settings.model.split(":")), settings) == price


@pytest.mark.parametrize("model", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5", "google:gemini-2.5-flash"])
def test_known_models_have_a_price(model: str) -> None:
    """The list that comes with the client is read offline."""
    price = price_of(ModelName(*model.split(":")), parse_settings(f"model: {model}"))
    assert price is not None and 0 < price.input < price.output


def test_a_night_is_priced_before_it_begins() -> None:
    """Calls by role add up, each at its own model's price; a person is asked above the set sum."""
    lines = "model: openai:a\nroles: {write: claude}\nbudget: {prices: [openai:a 1 10], ask_above: 2}\n"
    settings = parse_settings(lines)
    planned = [PlannedCalls(Role.ANALYSE, 10, 1_000_000, 100_000), PlannedCalls(Role.WRITE, 5, 10_000, 1000)]
    expected = estimate(settings, planned, 10)
    assert (expected.calls, expected.money, expected.paid) == (15, 2.0, True)
    assert expected.sentence() == (
        "15 calls of openai:a, claude for 10 sources (1,010,000 tokens in, 101,000 out): about $2.00"
    )
    assert not worth_asking(settings, expected)
    assert worth_asking(settings, estimate(settings, [*planned, PlannedCalls(Role.CITE, 1, 10, 1)]))
    free = estimate(settings, planned[1:])
    assert (free.paid, free.money) == (False, 0.0) and free.sentence().endswith(": free")
