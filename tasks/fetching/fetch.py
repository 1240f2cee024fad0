"""The one fetcher of web addresses: polite, bounded, honest, and never led astray by a redirect.

Every hop of a redirect is a request of its own: its address is checked, its host's robots.txt and pace are
kept. A redirect from https to http is refused, for its content could be anybody's. Bodies of error answers
are never read.
"""

from __future__ import annotations

import email.message
import email.utils
import queue
import random
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import PurePosixPath
from types import TracebackType
from typing import Literal
from urllib.parse import unquote, urlsplit

from config.errors import SourceError
from config.settings import Fetch
from tasks.clock import Clock, SystemClock
from tasks.fetching.network import Resolver, system_resolve
from tasks.fetching.politeness import Politeness
from tasks.fetching.refresh import leads_to
from tasks.fetching.robots import ROBOTS_BYTES, Robots
from tasks.fetching.transport import WHOLE, Answer, FetchError, Transport
from tasks.records import Outcome
from tasks.sources.addresses import canonical, check_supported, join

_ACCEPT = "text/html,application/xhtml+xml,application/pdf,application/atom+xml,text/*;q=0.9,*/*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_ENCODED_NAME = re.compile(r"filename\*\s*=\s*\"?UTF-8'[^']*'([^;\"]+)", re.IGNORECASE)
_LONGEST_WAIT = 60.0  # seconds a run waits when a server asks for time; for longer the address waits for another night
_LONGEST_RETRY = 7 * 24 * 3600.0
_SAVE_IT = "Save the page with your browser into the sources folder."
_LATER = "It is tried again in a later night."


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """An address to fetch, and what is known of its last answer."""

    url: str
    etag: str = ""
    last_modified: str = ""
    final_url: str = ""  # where redirects led last time: only there do `etag` and `last_modified` mean anything
    robots: bool = True  # False for a feed that the person subscribed to, as feed readers do


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer. With status `unchanged` the body is empty and the former one still holds."""

    status: Literal["fetched", "unchanged"]
    body: bytes
    content_type: str
    final_url: str
    etag: str
    last_modified: str
    file_name: str = ""  # what the server would have it saved as


@dataclass(frozen=True, slots=True)
class FetchResult:
    """What became of one request: exactly one of `fetched` and `error` is set."""

    request: FetchRequest
    fetched: Fetched | None = None
    error: SourceError | None = None


class Fetcher:
    """Fetches addresses over one run; safe for threads. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        settings: Fetch,
        clock: Clock | None = None,
        resolve: Resolver = system_resolve,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._jitter = jitter
        self._transport = Transport(settings, resolve)
        self._polite = Politeness(settings.host_pause_seconds, self._clock)
        self._robots = Robots(self._robots_text, settings.user_agent)
        self._limit = int(settings.max_megabytes * 1_000_000)

    def __enter__(self) -> Fetcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def fetch(
        self, url: str, etag: str = "", last_modified: str = "", final_url: str = "", robots: bool = True
    ) -> Fetched:
        """The answer of an address, tried again after passing failures. Raises SourceError with the
        outcome.
        """
        return self._fetch(FetchRequest(url, etag, last_modified, final_url, robots))

    def fetch_many(self, requests: Iterable[FetchRequest], workers: int = 8) -> Iterator[FetchResult]:
        """Results as they come: hosts side by side, addresses of one host in the order given.

        Stopping early (closing the iterator) starts no further request.
        """
        by_host: dict[str, deque[FetchRequest]] = {}
        for request in requests:
            by_host.setdefault(_host(request.url), deque()).append(request)
        results: queue.Queue[FetchResult] = queue.Queue(maxsize=2 * workers)
        stop = threading.Event()
        pending = sum(len(line) for line in by_host.values())

        def work(line: deque[FetchRequest]) -> None:
            while line and not stop.is_set():
                result = self._result(line.popleft())
                while not stop.is_set():
                    try:
                        results.put(result, timeout=0.1)
                        break
                    except queue.Full:
                        continue

        with ThreadPoolExecutor(max_workers=max(1, workers), thread_name_prefix="fetch") as pool:
            try:
                for line in by_host.values():
                    pool.submit(work, line)
                for _ in range(pending):
                    yield results.get()
            finally:
                stop.set()

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes = b"", limit: int = 0
    ) -> Answer:
        """One request as it is, any status and with its body, for a library that speaks HTTP by itself.

        Guard, limits, pace and user agent hold as always; robots.txt is not asked. Raises FetchError.
        """
        host = _host(url)
        self._polite.check(host, url)
        self._polite.wait(host)
        self._transport.deadline.start(self._settings.timeout_seconds)
        sent = {**headers, "User-Agent": self._settings.user_agent}
        return self._transport.exchange(method, url, sent, limit or self._limit, content, wanted=lambda status: True)

    def stop_host(self, url: str, error: SourceError) -> None:
        """Leave the host of this address alone for the rest of the run."""
        self._polite.stop(_host(url), error)

    def _result(self, request: FetchRequest) -> FetchResult:
        try:
            return FetchResult(request, fetched=self._fetch(request))
        except SourceError as error:
            return FetchResult(request, error=error)
        except Exception as error:  # one address must not end a night
            cause = f"unexpected {type(error).__name__}: {error}"
            return FetchResult(request, error=FetchError(request.url, Outcome.UNREADABLE, cause, _SAVE_IT))

    def _fetch(self, request: FetchRequest) -> Fetched:
        url = canonical(request.url)
        check_supported(url)
        tries = 0
        while True:
            self._transport.deadline.start(self._settings.timeout_seconds)
            try:
                fetched = self._follow(url, request)
                self._polite.answered(_host(fetched.final_url))
                return fetched
            except FetchError as error:
                at = _host(error.subject)
                wait = error.retry_after or 2.0**tries * (0.5 + self._jitter())
                if not error.again or tries >= self._settings.retries or wait > _LONGEST_WAIT:
                    if error.host_down:
                        self._polite.stop(at, error)
                    elif error.again:
                        self._polite.failed(at, error)
                    raise _about(error, request.url) from None
                self._polite.hold(at, wait)
                tries += 1

    def _follow(self, first: str, request: FetchRequest) -> Fetched:
        """One try: the redirects hop by hop to an answer."""
        url, seen = first, {first}
        for hop in range(self._settings.max_redirects + 1):
            headers = {"User-Agent": self._settings.user_agent, "Accept": _ACCEPT}
            known = url == (request.final_url or first)
            if known and request.etag:
                headers["If-None-Match"] = request.etag
            if known and request.last_modified:
                headers["If-Modified-Since"] = request.last_modified
            answer = self._get(url, headers, request.robots and self._settings.robots)
            if answer.status == HTTPStatus.NOT_MODIFIED and known and (request.etag or request.last_modified):
                return _fetched("unchanged", answer, url, request)
            onward = answer.headers.get("location", "")
            if answer.status not in _REDIRECTS:
                fetched = self._judge(url, answer, request)
                onward = _refresh(fetched, answer)
                if not onward:
                    return fetched
            if hop < self._settings.max_redirects:
                url = self._next(url, onward, answer, seen)
        raise FetchError(
            url,
            Outcome.REFUSED,
            f"more than {self._settings.max_redirects} redirects",
            "List the address where they end, or raise fetch.max_redirects.",
        )

    def _get(self, url: str, headers: Mapping[str, str], robots: bool) -> Answer:
        """One hop, with manners."""
        host = _host(url)
        self._polite.check(host, url)
        delay = self._robots.check(url) if robots else 0.0
        waited = self._polite.wait(host, delay)
        self._transport.deadline.extend(waited)
        return self._transport.exchange("GET", url, headers, self._limit)

    def _next(self, url: str, location: str, answer: Answer, seen: set[str]) -> str:
        """Where a redirect leads. Raises FetchError for one that must not be followed."""
        if not location:
            raise FetchError(url, Outcome.UNREADABLE, f"redirect {answer.status} without a target", _SAVE_IT)
        try:
            target = canonical(join(url, location))
        except SourceError as error:
            cause = f"redirected to a place that is not read: {error.cause}"
            raise FetchError(url, error.outcome, cause, f"Check the address. {_SAVE_IT}") from None
        if url.startswith("https:") and target.startswith("http:"):
            raise FetchError(
                url,
                Outcome.REFUSED,
                f"redirected from https to the unprotected {target}",
                "List that address itself if you trust it.",
            )
        if target in seen:
            if "set-cookie" in answer.headers:
                raise FetchError(url, Outcome.NEEDS_BROWSER, "the site insists on cookies", _SAVE_IT)
            raise FetchError(url, Outcome.BLOCKED, "redirects lead in a circle", f"Check the address. {_LATER}")
        seen.add(target)
        return target

    def _judge(self, url: str, answer: Answer, request: FetchRequest) -> Fetched:
        """The final answer as a result, or as the outcome that its status stands for."""
        status = answer.status
        if status in WHOLE:
            return _fetched("fetched", answer, url, request)
        try:
            said = f"the server answered {status} {HTTPStatus(status).phrase}"
        except ValueError:
            said = f"the server answered {status}"
        if "challenge" in answer.headers.get("cf-mitigated", "").lower():
            raise FetchError(url, Outcome.NEEDS_BROWSER, "the site lets only browsers in", _SAVE_IT)
        if status in _PASSING:
            asked = _retry_after(answer.headers.get("retry-after", ""), self._clock.now())
            outcome = Outcome.TIMED_OUT if status in {408, 504} else Outcome.BLOCKED
            stop = status == HTTPStatus.TOO_MANY_REQUESTS or asked > _LONGEST_WAIT
            raise FetchError(url, outcome, said, _LATER, again=True, retry_after=asked, host_down=stop)
        if status == HTTPStatus.NOT_MODIFIED:
            raise FetchError(url, Outcome.BLOCKED, f"{said} to one who has nothing", _LATER)
        if status in {404, 410}:
            raise FetchError(url, Outcome.GONE, said, "Check the address, or take it off the list.")
        if status == HTTPStatus.PAYMENT_REQUIRED:
            raise FetchError(url, Outcome.PAYWALLED, said, _SAVE_IT)
        if status in {401, 407, 451}:
            raise FetchError(url, Outcome.REFUSED, said, _SAVE_IT)
        if status in {204, 205}:
            raise FetchError(url, Outcome.NO_CONTENT, said, "Check the address.")
        if status == HTTPStatus.FORBIDDEN or status >= 500:
            raise FetchError(url, Outcome.BLOCKED, said, f"{_LATER} Or save the page with your browser.")
        if 400 <= status < 500:
            raise FetchError(url, Outcome.REFUSED, said, _SAVE_IT)
        raise FetchError(url, Outcome.UNREADABLE, said, _SAVE_IT)

    def _robots_text(self, url: str) -> Answer:
        """A robots.txt, its redirects followed with the same checks; too many of them count as no file."""
        headers = {"User-Agent": self._settings.user_agent, "Accept": "text/plain,*/*;q=0.5"}
        for _ in range(6):
            answer = self._transport.exchange("GET", url, headers, ROBOTS_BYTES, cut=True)
            if answer.status not in _REDIRECTS:
                return answer
            try:
                url = self._next(url, answer.headers.get("location", ""), answer, {url})
            except FetchError:
                break
        return Answer(HTTPStatus.NOT_FOUND, {}, b"")


def next_try(now: datetime, failures: int, retry_after: float = 0.0) -> datetime:
    """When a source that failed for a passing reason is due again: an hour, doubled with every failure to a
    week.
    """
    pause = min(3600.0 * 2.0 ** min(max(failures, 1) - 1, 12), _LONGEST_RETRY)
    return now + timedelta(seconds=max(pause, min(retry_after, _LONGEST_RETRY)))


def _fetched(status: Literal["fetched", "unchanged"], answer: Answer, url: str, request: FetchRequest) -> Fetched:
    kept = request if status == "unchanged" else FetchRequest(url)
    return Fetched(
        status,
        answer.body,
        answer.headers.get("content-type", ""),
        url,
        answer.headers.get("etag", kept.etag),
        answer.headers.get("last-modified", kept.last_modified),
        _file_name(answer.headers.get("content-disposition", "")),
    )


def _file_name(disposition: str) -> str:
    """The name in a `Content-Disposition`, in any of its forms, without folders; '' when it gives none."""
    if "name" not in disposition.lower():
        return ""
    if encoded := _ENCODED_NAME.search(disposition):  # stands beside a plain one for old browsers
        name = encoded[1]
    else:
        message = email.message.Message()
        message["Content-Disposition"] = "".join(filter(str.isprintable, disposition))
        name = message.get_filename() or ""
    return PurePosixPath(unquote(name).replace("\\", "/")).name.strip()[:200]


def _refresh(fetched: Fetched, answer: Answer) -> str:
    """The canonical address of the other page that a fetched one leads on to; '' when it stands for itself.

    Where a page leads to an app, or out of the web, there is only the page itself to read.
    """
    reference = leads_to(fetched.body, fetched.content_type, answer.headers.get("refresh", ""))
    try:
        target = canonical(join(fetched.final_url, reference)) if reference else ""
    except SourceError as error:
        if error.outcome == Outcome.UNSUPPORTED:
            return ""
        raise FetchError(
            fetched.final_url, error.outcome, f"it leads on to a place that is not read: {error.cause}", _SAVE_IT
        ) from None
    return "" if target == fetched.final_url else target


def _retry_after(value: str, now: float) -> float:
    """Seconds a server asks to wait, from either form of Retry-After; 0 when it asks nothing that can be
    read.
    """
    value = value.strip()
    if value.isdigit() and value.isascii():
        return float(value[:9])
    try:
        when = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, when.timestamp() - now)


def _about(error: FetchError, url: str) -> FetchError:
    """The error as one of the address that was asked for, naming the hop where it happened if it was
    another.
    """
    hop = error.subject
    cause = error.cause if hop == url or _host(hop) == _host(url) else f"{error.cause} (at {hop})"
    return FetchError(url, error.outcome, cause, error.next_step, error.again, error.retry_after, error.host_down)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""
