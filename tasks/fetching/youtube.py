"""Transcripts of YouTube videos, by youtube-transcript-api over our own fetcher.

The library speaks through a `requests` session. Its only adapter hands every request to the fetcher, so that guard,
limits and pace hold here too; addresses outside YouTube have no adapter and cannot be reached. A block concerns this
machine and not the video: it ends all requests to YouTube for the run, and is never a final outcome.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3 import HTTPResponse

from config.errors import SourceError
from tasks.fetching.transport import Answer, FetchError
from tasks.records import Outcome
from tasks.sources.addresses import video_address, video_id

if TYPE_CHECKING:
    from youtube_transcript_api import Transcript, TranscriptList

__all__ = ["HttpExchange", "session", "transcript", "video_id"]

_HOME = "https://www.youtube.com"
_CONSENT = "https://consent.youtube.com"
_SAVE_IT = "Save its transcript as a file in the sources folder."
_LATER = "It is tried again in a later night."
_PAID = ("member", "paid", "purchase", "rent", "premium")
_NOT_YET = ("premiere", "live event will begin", "live stream", "processing", "upcoming", "scheduled")
_LEFT = ("private", "removed", "terminated", "no longer available", "unavailable", "deleted", "closed", "copyright")


class HttpExchange(Protocol):
    """What this module needs of the fetcher."""

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes = b"", limit: int = 0
    ) -> Answer:
        """One request and its answer, whatever its status; raises SourceError."""

    def stop_host(self, url: str, error: SourceError) -> None:
        """No more requests to this host in this run."""


class _FetcherAdapter(BaseAdapter):
    """Answers the requests of a session through the fetcher; `home` is where YouTube is."""

    def __init__(self, http: HttpExchange, home: str) -> None:
        super().__init__()
        self._http = http
        self._home = home

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,
        timeout: object = None,
        verify: object = True,
        cert: object = None,
        proxies: object = None,
    ) -> Response:
        """One request; raises SourceError past `requests`, whose own errors say less."""
        url = request.url or ""
        if self._home != _HOME:
            parts = urlsplit(url)
            url = f"{self._home}{parts.path}" + (f"?{parts.query}" if parts.query else "")
        body = request.body or b""
        content = body.encode() if isinstance(body, str) else body if isinstance(body, bytes) else b""
        headers = {
            name: str(value)
            for name, value in request.headers.items()
            if name.lower() not in {"user-agent", "accept-encoding", "connection", "content-length"}
        }
        answer = self._http.exchange(request.method or "GET", url, headers, content)
        kept = {
            name: value for name, value in answer.headers.items() if name not in {"content-encoding", "content-length"}
        }
        raw = HTTPResponse(body=BytesIO(answer.body), headers=kept, status=answer.status, preload_content=False)
        response: Response = HTTPAdapter().build_response(request, raw)
        return response

    def close(self) -> None:
        """Nothing is held here."""


def session(http: HttpExchange, home: str = _HOME) -> Session:
    """A session that reaches YouTube through `http`, and nothing else; one a video, for it gathers a consent cookie."""
    out = Session()
    out.trust_env = False
    out.adapters.clear()
    for host in (_HOME, _CONSENT):
        out.mount(f"{host}/", _FetcherAdapter(http, home))
    return out


def transcript(video: str, languages: Sequence[str], http: HttpExchange, home: str = _HOME) -> bytes:
    """The transcript of a video as JSON, in the form of saved ones.

    `{"video_id", "title", "author", "language", "snippets": [{"text", "start", "duration"}]}`, times in seconds. A
    transcript that a person made comes before a generated one, in the first language that has any; `en` takes `en-GB`.
    Raises SourceError with the outcome.
    """
    player: dict[str, str] = {}

    def remember(response: Response, *args: object, **kwargs: object) -> None:
        if urlsplit(response.url).path.endswith("/youtubei/v1/player"):
            player.update(_details(response))

    with session(http, home) as client:
        client.hooks["response"].append(remember)
        fetched = _call(video, client, languages, http, home)
    snippets = [
        {"text": snippet.text, "start": snippet.start, "duration": snippet.duration} for snippet in fetched.snippets
    ]
    if not any(snippet.text.strip() for snippet in fetched.snippets):
        raise SourceError(video_address(video), Outcome.NO_TRANSCRIPT, "the transcript is empty", _SAVE_IT)
    saved = {
        "video_id": video,
        "title": player.get("title", ""),
        "author": player.get("author", ""),
        "language": fetched.language_code,
        "generated": fetched.is_generated,
        "snippets": snippets,
    }
    return json.dumps(saved, ensure_ascii=False, sort_keys=True).encode()


def _call(video: str, client: Session, languages: Sequence[str], http: HttpExchange, home: str) -> Any:
    """The library's transcript, its errors turned into outcomes."""
    import youtube_transcript_api as library

    address = video_address(video)
    try:
        listed = library.YouTubeTranscriptApi(http_client=client).list(video)
        return _choose(listed, languages, address).fetch()
    except SourceError as error:
        if isinstance(error, FetchError):  # the adapter names the request, a person wants the video
            raise FetchError(address, error.outcome, error.cause, error.next_step, host_down=error.host_down) from None
        raise
    except library.RequestBlocked:
        blocked = FetchError(address, Outcome.BLOCKED, "YouTube blocks this machine for now", _LATER, host_down=True)
        http.stop_host(home, blocked)
        raise blocked from None
    except library.CouldNotRetrieveTranscript as error:
        raise _outcome(address, error) from None
    except Exception as error:  # YouTube changes its answers without notice
        cause = f"YouTube's answer was not understood ({type(error).__name__})"
        raise SourceError(address, Outcome.BLOCKED, cause, f"{_LATER} Or update youtube-transcript-api.") from None


def _choose(listed: TranscriptList, languages: Sequence[str], address: str) -> Transcript:
    available = sorted(listed, key=lambda one: one.is_generated)
    for language in languages:
        for same in (str.__eq__, lambda code, wanted: code.startswith(f"{wanted}-")):
            for one in available:
                if same(one.language_code.lower(), language.lower()):
                    return one
    codes = ", ".join(dict.fromkeys(one.language_code for one in available))
    cause = f"there is no transcript in {', '.join(languages)}, only in {codes}"
    step = f"Add one of these to extract.languages: {codes}."
    raise SourceError(address, Outcome.NO_TRANSCRIPT, cause, step)


def _outcome(address: str, error: Exception) -> SourceError:
    """What an error of the library means for the video."""
    import youtube_transcript_api as library

    if isinstance(error, (library.TranscriptsDisabled, library.NoTranscriptFound)):
        return SourceError(address, Outcome.NO_TRANSCRIPT, "the video has no transcript", _SAVE_IT)
    if isinstance(error, library.VideoUnavailable):
        return SourceError(address, Outcome.GONE, "the video is no longer available", "Take it off the list.")
    if isinstance(error, library.InvalidVideoId):
        return SourceError(address, Outcome.UNSUPPORTED, "this is no video id", "Check the address.")
    if isinstance(error, library.AgeRestricted):
        return SourceError(address, Outcome.REFUSED, "the video is age-restricted and needs a login", _SAVE_IT)
    if isinstance(error, library.PoTokenRequired):
        return SourceError(address, Outcome.NEEDS_BROWSER, "YouTube hands this transcript to browsers only", _SAVE_IT)
    if isinstance(error, library.FailedToCreateConsentCookie):
        return SourceError(address, Outcome.BLOCKED, "YouTube insists on its cookie page", _LATER)
    if isinstance(error, library.VideoUnplayable):
        return _unplayable(address, str(error.reason or ""), " ".join(error.sub_reasons))
    if isinstance(error, library.YouTubeRequestFailed):
        if "404" in error.reason.split(" ", 1)[0]:
            return SourceError(address, Outcome.GONE, "the video is no longer available", "Take it off the list.")
        return SourceError(address, Outcome.BLOCKED, f"YouTube answered {error.reason.split(' for url')[0]}", _LATER)
    cause = "YouTube's answer was not understood"
    return SourceError(address, Outcome.BLOCKED, cause, f"{_LATER} Or update youtube-transcript-api.")


def _unplayable(address: str, reason: str, details: str) -> SourceError:
    """A video that does not play: by YouTube's words it is for members, not out yet, gone, or something else."""
    said = " ".join(f"{reason} {details}".split())[:300]
    low = said.lower()
    cause = f"the video cannot be played: {said}" if said else "the video cannot be played"
    if any(word in low for word in _PAID):
        return SourceError(address, Outcome.PAYWALLED, cause, _SAVE_IT)
    if any(word in low for word in _NOT_YET):
        return SourceError(address, Outcome.BLOCKED, cause, _LATER)
    if any(word in low for word in _LEFT):
        return SourceError(address, Outcome.GONE, cause, "Take it off the list.")
    return SourceError(address, Outcome.REFUSED, cause, _SAVE_IT)


def _details(response: Response) -> dict[str, str]:
    """Title and author out of the player's data, as far as they are there."""
    try:
        details = response.json().get("videoDetails") or {}
        return {name: str(details[name]) for name in ("title", "author") if details.get(name)}
    except (ValueError, AttributeError, TypeError):
        return {}
