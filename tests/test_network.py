"""Which addresses may be connected to, and that nothing else ever is."""

from __future__ import annotations

import ipaddress
import time

import pytest

from config.errors import SourceError
from config.settings import Fetch
from tasks.fetching.fetch import Fetcher
from tasks.fetching.network import Guard, RefusedAddressError, is_public
from tasks.records import Outcome
from tests.web import FakeClock, Web, page

CLOSED = [
    "127.0.0.1", "10.0.0.5", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "168.63.129.16",
    "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:a00:5::1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "2001:0:7f00:1::", "2001:470::5efe:a00:1", "64:ff9b:1::1",
]  # fmt: skip
OPEN = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", CLOSED)
def test_closed_addresses(address: str) -> None:
    """Own machine, own networks, groups, metadata, and all of these wrapped in IPv6 are closed."""
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", OPEN)
def test_open_addresses(address: str) -> None:
    """Public addresses are open, wrapped ones too."""
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::1]", "localhost", "１２７.0.0.1"]
)
def test_every_spelling_of_this_machine_is_closed(host: str) -> None:
    """Whatever a resolver would take for the own machine is refused."""
    with pytest.raises(RefusedAddressError):
        Guard().resolve(host, 80)


def test_name_with_public_and_private_answers_is_closed() -> None:
    """One closed answer among open ones closes the name."""
    with pytest.raises(RefusedAddressError):
        Guard(resolve=lambda host, port: ("8.8.8.8", "10.0.0.5")).resolve("trap.example", 80)


def test_allowed_networks_and_hosts() -> None:
    """An intranet is opened by network or by name, and nothing beside it; metadata only address by address."""
    guard = Guard(("10.1.0.0/16", "*.corp", "fd12::/16"), lambda host, port: ("10.9.9.9",))
    assert guard.resolve("10.1.2.3", 80) == ("10.1.2.3",)
    assert guard.resolve("[::ffff:10.1.2.3]", 80)
    assert guard.resolve("wiki.corp", 80) == ("10.9.9.9",)
    for host in ("10.2.0.1", "wiki.example", "127.0.0.1"):
        with pytest.raises(RefusedAddressError):
            guard.resolve(host, 80)
    with pytest.raises(RefusedAddressError):
        Guard(("169.254.0.0/16",)).resolve("169.254.169.254", 80)
    assert Guard(("169.254.169.254",)).resolve("169.254.169.254", 80)


def test_connection_goes_to_the_checked_answer(web: Web, clock: FakeClock) -> None:
    """A name server that turns to another address after the check is asked only once a connection."""
    answers = iter([("127.0.0.1",), ("10.0.0.5",)])
    port = int(web.address.rsplit(":", 1)[1])
    web.route("/", page("hello"))
    settings = Fetch(allow_private=("127.0.0.1",), robots=False, retries=0)
    with Fetcher(settings, clock, resolve=lambda host, port: next(answers)) as fetcher:
        assert fetcher.fetch(f"http://turning.example:{port}/").body == b"hello"
    turned = Fetcher(settings, clock, resolve=lambda host, port: next(answers))
    with turned as fetcher, pytest.raises(SourceError) as caught:
        fetcher.fetch(f"http://turning.example:{port}/")
    assert caught.value.outcome == Outcome.REFUSED
    assert "10.0.0.5" in caught.value.cause and "allow_private" in caught.value.next_step


def test_resolver_that_never_answers_costs_the_request_only(clock: FakeClock) -> None:
    """A name server that hangs ends with the request's time."""
    settings = Fetch(timeout_seconds=0.2, robots=False, retries=0)
    slow = Fetcher(settings, clock, resolve=lambda host, port: time.sleep(1) or ())
    with slow as fetcher, pytest.raises(SourceError) as caught:
        fetcher.fetch("http://slow.example/")
    assert caught.value.outcome == Outcome.TIMED_OUT
