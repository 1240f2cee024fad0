"""Connections that reach public addresses only, whatever a name resolves to and wherever a redirect leads.

A name is resolved once, every answer is checked, and the connection goes to a checked address: between
check and use nothing is resolved again, so a name server that changes its answer gains nothing. Each
connection also ends with its request's time.
"""

from __future__ import annotations

import fnmatch
import functools
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Sequence

import httpcore

from config.errors import SourceError
from tasks.records import Outcome
from tasks.sources.addresses import canonical_host, host_address

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolver = Callable[[str, int], Sequence[str]]
"""Host and port to IP addresses; raises OSError when there are none."""

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "168.63.129.16",
    )
)
"""Where clouds hand out credentials: open only when named one by one, never as part of a network."""

_CLOSED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
        "5f00::/16",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    )
)
"""The special-purpose registries of IANA: own machine, own networks, documentation, benchmarks, groups."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class RefusedAddressError(Exception):
    """The connection would reach an address that is not public."""


def system_resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a host as the system sees them; raises OSError."""
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(info[4][0]) for info in infos))


def is_public(address: IP) -> bool:
    """Whether an address, and any IPv4 address wrapped in it, belongs to the public internet."""
    if address in _METADATA or any(address in network for network in _CLOSED if network.version == address.version):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return all(is_public(inner) for inner in _wrapped(address))
    return True


def _wrapped(address: ipaddress.IPv6Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address leads to: mapped, 6to4, Teredo, NAT64, ISATAP."""
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    number = int(address)
    if address in _NAT64 or (number >> 32) & 0xFFFFFFFF in {0x00005EFE, 0x02005EFE}:
        inner.append(ipaddress.IPv4Address(number & 0xFFFFFFFF))
    return tuple(one for one in inner if one is not None)


class Guard:
    """Decides which addresses may be connected to."""

    def __init__(self, allow_private: Iterable[str] = (), resolve: Resolver = system_resolve) -> None:
        self._resolve = resolve
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        self._hosts: list[str] = []
        for entry in allow_private:
            try:
                self._networks.append(ipaddress.ip_network(entry.strip().strip("[]"), strict=False))
            except ValueError:
                self._hosts.append(entry.strip().lower().rstrip("."))

    def allows(self, host: str, address: IP) -> bool:
        """Whether `address`, to which `host` resolved, may be connected to."""
        plain = address.ipv4_mapped or address if isinstance(address, ipaddress.IPv6Address) else address
        if plain in _METADATA:
            return any(network.num_addresses == 1 and plain in network for network in self._networks)
        if is_public(address) or any(fnmatch.fnmatchcase(host, pattern) for pattern in self._hosts):
            return True
        return any(plain.version == network.version and plain in network for network in self._networks)

    def resolve(self, host: str, port: int, timeout: float | None = None) -> tuple[str, ...]:
        """Checked addresses of a host, IPv4 and IPv6 as the system orders them.

        Raises RefusedAddressError when any answer is closed: a name that is public and private is a trap or
        a mistake. Raises OSError when there is no answer, TimeoutError when there is none in time.
        """
        host = canonical_host(host)
        literal = host_address(host)
        if literal is not None:
            answers: Sequence[str] = (str(literal),)
        else:
            answers = _in_time(lambda: self._resolve(host, port), timeout)
        if not answers:
            raise OSError(f"{host} has no address")
        for answer in answers:
            address = ipaddress.ip_address(answer.split("%", 1)[0])
            if not self.allows(host, address):
                where = "" if host == str(address) else f" ({host})"
                raise RefusedAddressError(f"{address}{where} is not a public address")
        return tuple(answers)

    def check_proxied(self, host: str, port: int, timeout: float | None = None) -> None:
        """Refuse what is plainly closed before a proxy, which resolves names itself, is asked for it."""
        try:
            self.resolve(host, port, timeout)
        except OSError:
            if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
                raise RefusedAddressError(f"{host} is not a public name") from None


def _in_time(work: Callable[[], Sequence[str]], timeout: float | None) -> Sequence[str]:
    """What `work` returns or raises; TimeoutError after `timeout` seconds: system resolvers know none."""
    answers: queue.Queue[Sequence[str] | Exception] = queue.Queue()

    def run() -> None:
        try:
            answers.put(work())
        except Exception as error:
            answers.put(error)

    threading.Thread(target=run, daemon=True, name="resolve").start()
    try:
        answer = answers.get(timeout=timeout)
    except queue.Empty:
        raise TimeoutError("the name could not be resolved in time") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


class Deadline(threading.local):
    """The moment at which this thread's request must be over."""

    at: float = float("inf")

    def start(self, seconds: float) -> None:
        """Give the request that this thread begins now so much time."""
        self.at = time.monotonic() + seconds

    def extend(self, seconds: float) -> None:
        """Time spent waiting for a host's turn is not the server's."""
        self.at += seconds

    def left(self, timeout: float | None) -> float:
        """Seconds one step may take; raises TimeoutError when the time is over."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for this request is over")
        return min(left, 3600 if timeout is None else timeout)


class GuardedBackend(httpcore.NetworkBackend):
    """httpcore's way to the network, through a guard and within a deadline."""

    def __init__(self, guard: Guard, deadline: Deadline, trusted: tuple[str, int] | None = None) -> None:
        self._guard = guard
        self._deadline = deadline
        self._trusted = trusted  # the proxy that the person named
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first checked address that answers."""
        try:
            if self._trusted == (host, port):
                addresses: Sequence[str] = (host,)
            else:
                addresses = self._guard.resolve(host, port, self._deadline.left(timeout))
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host}: {getattr(error, 'strerror', '') or error}") from error
        problem: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses[:4]:
            try:
                limit = self._deadline.left(timeout)
                stream = self._sockets.connect_tcp(address, port, limit, local_address, socket_options)
                return _TimedStream(stream, self._deadline)
            except TimeoutError as error:
                raise httpcore.ConnectTimeout(str(error)) from error
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
        raise problem


class _TimedStream(httpcore.NetworkStream):
    """A connection whose every step ends with the deadline: a server that trickles gains no time."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return self._stream.read(max_bytes, self._deadline.left(timeout))
        except TimeoutError as error:
            raise httpcore.ReadTimeout(str(error)) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._stream.write(buffer, self._deadline.left(timeout))
        except TimeoutError as error:
            raise httpcore.WriteTimeout(str(error)) from error

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Certificates of the system and of certifi: a company's own authority and a bare machine both work."""
    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    context.load_default_certs()
    return context


def refused(subject: str, error: RefusedAddressError) -> SourceError:
    """The outcome of a source on a closed address."""
    return SourceError(
        subject,
        Outcome.REFUSED,
        str(error),
        "If it is your own network, add the host or network to fetch.allow_private.",
    )
