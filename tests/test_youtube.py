"""Transcripts, their library speaking to a real local server in YouTube's place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.errors import SourceError
from config.settings import Fetch
from tasks.fetching.fetch import Fetcher
from tasks.fetching.youtube import session, transcript
from tasks.records import Outcome
from tests.web import FakeClock, Reply, Web, page, redirect

VIDEO = "GJLlxj_dtq8"
WATCH = page('<script>{"INNERTUBE_API_KEY": "key-1"}</script>')
CAPTIONS = Reply(
    200,
    b'<?xml version="1.0" encoding="utf-8"?><transcript><text start="0" dur="1.5">The Z3 &amp;amp; its tape</text>'
    b'<text start="1.5" dur="2">ran in <i>1941</i>\xc3\xa9</text></transcript>',
    {"Content-Type": "text/xml; charset=utf-8"},
)


def track(code: str, generated: bool = False, extra: str = "") -> dict[str, object]:
    """One caption track as the player lists it."""
    url = f"https://www.youtube.com/api/timedtext?v={VIDEO}&lang={code}{'&kind=asr' if generated else ''}{extra}"
    name = {"runs": [{"text": code}]}
    return {"baseUrl": url, "languageCode": code, "name": name, "kind": "asr" if generated else ""}


def player(*tracks: dict[str, object], status: str = "OK", reason: str = "", detail: str = "") -> Reply:
    """The player's data with these tracks."""
    data: dict[str, object] = {
        "playabilityStatus": {
            "status": status,
            "reason": reason,
            "errorScreen": {"playerErrorMessageRenderer": {"subreason": {"runs": [{"text": detail}]}}},
        },
        "videoDetails": {"title": "The Z3 at work", "author": "A museum"},
    }
    if tracks:
        data["captions"] = {"playerCaptionsTracklistRenderer": {"captionTracks": list(tracks)}}
    return Reply(200, json.dumps(data).encode(), {"Content-Type": "application/json"})


@pytest.fixture
def fetcher(clock: FakeClock) -> Iterator[Fetcher]:
    """A fetcher that may speak to the local server."""
    with Fetcher(Fetch(allow_private=("127.0.0.1",)), clock) as opened:
        yield opened


def script(web: Web, data: Reply, watch: Reply = WATCH, captions: Reply = CAPTIONS) -> None:
    """Let the server play YouTube with these answers."""
    web.route("/watch", watch)
    web.route("/youtubei/v1/player", data)
    web.route("/api/timedtext", captions)


def outcome(web: Web, fetcher: Fetcher) -> SourceError:
    """The error that asking for the video ends with."""
    with pytest.raises(SourceError) as caught:
        transcript(VIDEO, ("en",), fetcher, web.address)
    return caught.value


def test_transcript_carries_title_author_and_times(web: Web, fetcher: Fetcher) -> None:
    """The saved form has everything a reader of the page needs."""
    script(web, player(track("en")))
    saved = json.loads(transcript(VIDEO, ("en",), fetcher, web.address))
    assert (saved["video_id"], saved["title"], saved["author"]) == (VIDEO, "The Z3 at work", "A museum")
    assert saved["snippets"][0] == {"text": "The Z3 & its tape", "start": 0.0, "duration": 1.5}
    assert web.asked[0].headers["user-agent"].startswith("nightwiki/")


@pytest.mark.parametrize(
    ("tracks", "wanted", "chosen"),
    [
        ([track("en", True), track("en")], ("en",), "en"),
        ([track("en", True), track("de")], ("en", "de"), "en&kind=asr"),
        ([track("de"), track("en-GB")], ("en",), "en-GB"),
        ([track("en-US"), track("en", True)], ("en",), "en&kind=asr"),
    ],
    ids=["made before generated", "language before made", "regional form", "exact before regional"],
)
def test_language_is_chosen_by_preference(
    web: Web, fetcher: Fetcher, tracks: list[dict[str, object]], wanted: tuple[str, ...], chosen: str
) -> None:
    """The first wanted language decides, then how the transcript was made."""
    script(web, player(*tracks))
    transcript(VIDEO, wanted, fetcher, web.address)
    assert web.asked[-1].path.endswith(f"lang={chosen}")


def test_other_languages_are_named(web: Web, fetcher: Fetcher) -> None:
    """Without a wanted language the next step says what to set."""
    script(web, player(track("de"), track("fr", True)))
    error = outcome(web, fetcher)
    assert error.outcome == Outcome.NO_TRANSCRIPT
    assert "de, fr" in error.next_step


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (player(), Outcome.NO_TRANSCRIPT),
        (player(status="ERROR", reason="This video is unavailable"), Outcome.GONE),
        (player(status="LOGIN_REQUIRED", reason="This video may be inappropriate for some users."), Outcome.REFUSED),
        (player(status="LOGIN_REQUIRED", reason="This is a private video."), Outcome.GONE),
        (
            player(status="UNPLAYABLE", reason="Join this channel to get access to members-only content"),
            Outcome.PAYWALLED,
        ),
        (player(status="LIVE_STREAM_OFFLINE", reason="Premieres in 3 hours"), Outcome.BLOCKED),
        (player(status="UNPLAYABLE", reason="Not in your country"), Outcome.REFUSED),
        (player(track("en", extra="&exp=xpe")), Outcome.NEEDS_BROWSER),
        (Reply(200, b"not json"), Outcome.BLOCKED),
        (Reply(500), Outcome.BLOCKED),
    ],
    ids=["disabled", "unavailable", "age", "private", "members", "premiere", "country", "browser", "junk", "server"],
)
def test_every_failure_has_its_outcome(web: Web, fetcher: Fetcher, data: Reply, expected: Outcome) -> None:
    """What YouTube says becomes one outcome with a reason and a next step."""
    script(web, data)
    error = outcome(web, fetcher)
    assert error.outcome == expected
    assert error.cause and error.next_step and len(str(error)) < 400


def test_block_ends_requests_for_the_run_and_is_passing(web: Web, fetcher: Fetcher) -> None:
    """The third of fifty videos is blocked: the other 47 are queued without another request."""
    script(web, player(track("en")), captions=CAPTIONS)
    web.route("/watch", WATCH, WATCH, Reply(429), WATCH)
    outcomes = []
    for number in range(50):
        try:
            transcript(f"video-{number:05d}", ("en",), fetcher, web.address)
            outcomes.append("ok")
        except SourceError as error:
            outcomes.append(str(error.outcome))
    assert outcomes == ["ok"] * 2 + [Outcome.BLOCKED] * 48
    assert web.paths()[-1] == "/watch?v=video-00002"


def test_disabled_is_no_block(web: Web, fetcher: Fetcher) -> None:
    """A video without captions leaves the next ones alone."""
    script(web, player())
    web.route("/youtubei/v1/player", player(), player(track("en")))
    assert outcome(web, fetcher).outcome == Outcome.NO_TRANSCRIPT
    assert json.loads(transcript(VIDEO, ("en",), fetcher, web.address))["snippets"]


def test_bot_wall_and_captcha_are_blocks(web: Web, clock: FakeClock) -> None:
    """Both ways in which YouTube keeps programs out mean later, not never."""
    for data, watch in [
        (player(status="LOGIN_REQUIRED", reason="Sign in to confirm you’re not a bot"), WATCH),
        (player(), page('<form class="g-recaptcha">')),
    ]:
        with Fetcher(Fetch(allow_private=("127.0.0.1",)), clock) as fresh:
            script(web, data, watch)
            assert outcome(web, fresh).outcome == Outcome.BLOCKED
            with pytest.raises(SourceError, match="left alone"):
                fresh.exchange("GET", web.url("/watch"), {})


def test_cookie_page_is_answered_once(web: Web, fetcher: Fetcher) -> None:
    """Where YouTube asks for consent the transcript is still found; where it insists, it is a block."""
    consent = page('<form action="https://consent.youtube.com/s"><input name="v" value="cb"></form>')
    script(web, player(track("en")))
    web.route("/watch", redirect("https://consent.youtube.com/m?continue=x"), WATCH, consent)
    web.route("/m", consent)
    assert transcript(VIDEO, ("en",), fetcher, web.address)
    assert "CONSENT=YES+cb" in web.asked[2].headers["cookie"]
    assert outcome(web, fetcher).outcome == Outcome.BLOCKED


def test_session_reaches_youtube_only(fetcher: Fetcher) -> None:
    """An address outside YouTube in the player's data has no way out."""
    with session(fetcher) as client, pytest.raises(Exception, match="No connection adapters"):
        client.get("http://169.254.169.254/")


def test_empty_transcript_and_foreign_xml(web: Web, fetcher: Fetcher) -> None:
    """An empty body, silence, and XML that unfolds without end are outcomes, not accidents."""
    bomb = b'<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><transcript><text start="0">&b;</text></transcript>'
    silence = b'<transcript><text start="0" dur="1"> </text></transcript>'
    script(web, player(track("en")))
    web.route("/api/timedtext", Reply(200, b""), Reply(200, bomb), Reply(200, silence))
    assert [outcome(web, fetcher).outcome for _ in range(3)] == [
        Outcome.BLOCKED,
        Outcome.BLOCKED,
        Outcome.NO_TRANSCRIPT,
    ]


RECORDED = {
    "youtube": "ok",
    "youtube_altered_user_agent": "ok",
    "youtube_ww1_nl_en": "ok",
    "youtube_age_restricted": Outcome.REFUSED,
    "youtube_po_token_required": Outcome.NEEDS_BROWSER,
    "youtube_request_blocked": Outcome.BLOCKED,
    "youtube_transcripts_disabled": Outcome.NO_TRANSCRIPT,
    "youtube_transcripts_disabled2": Outcome.NO_TRANSCRIPT,
    "youtube_unplayable": Outcome.REFUSED,
    "youtube_video_unavailable": Outcome.GONE,
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_answers(name: str, web: Web, clock: FakeClock, shared: Path) -> None:
    """What YouTube really answered leads to the right outcome."""
    folder = shared / "sources" / "youtube"
    data = (folder / f"{name}.innertube.json.static").read_bytes()
    text = (folder / "transcript.xml.static").read_bytes()
    script(web, Reply(200, data), Reply(200, (folder / "youtube.html.static").read_bytes()), Reply(200, text))
    with Fetcher(Fetch(allow_private=("127.0.0.1",)), clock) as fresh:
        if RECORDED[name] == "ok":
            saved = json.loads(transcript(VIDEO, ("en",), fresh, web.address))
            assert saved["title"] and saved["author"] and len(saved["snippets"]) == 3
        else:
            assert outcome(web, fresh).outcome == RECORDED[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("youtube_consent_page", "ok"),
        ("youtube_consent_page_invalid", Outcome.BLOCKED),
        ("youtube_too_many_requests", Outcome.BLOCKED),
    ],
)
def test_recorded_walls(name: str, expected: str, web: Web, fetcher: Fetcher, shared: Path) -> None:
    """The cookie page and the captcha page as YouTube really sent them."""
    folder = shared / "sources" / "youtube"
    script(web, player(track("en")))
    web.route("/watch", Reply(200, (folder / f"{name}.html.static").read_bytes()), WATCH)
    if expected == "ok":
        assert transcript(VIDEO, ("en",), fetcher, web.address)
    else:
        assert outcome(web, fetcher).outcome == expected
