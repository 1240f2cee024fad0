"""One form for every address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.errors import SourceError
from tasks.records import Outcome, SourceKind
from tasks.sources.addresses import canonical, check_supported, host_address, identify, source_id, video_id

ID = "dQw4w9WgXcQ"


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("HTTP://Example.ORG:80/a/./b/../c", "http://example.org/a/c"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://example.org./x#part", "https://example.org/x"),
        ("https://example.org/?utm_source=a&id=7&fbclid=b&UTM_Medium=c", "https://example.org/?id=7"),
        ("https://example.org/?b=2&a=1&&", "https://example.org/?b=2&a=1"),
        ("https://example.org/?si=5", "https://example.org/?si=5"),
        ("https://open.spotify.com/track/1?si=5", "https://open.spotify.com/track/1"),
        ("https://example.org/%7euser/%e4%2f", "https://example.org/~user/%E4%2F"),
        ("https://example.org/ü b?q=ä", "https://example.org/%C3%BC%20b?q=%C3%A4"),
        ("https://example.org/100%", "https://example.org/100%25"),
        ("https://BÜCHER.example/", "https://xn--bcher-kva.example/"),
        ("https://straße.example/", "https://xn--strae-oqa.example/"),
        ("  <https://example.org/a>\n", "https://example.org/a"),
        ("https://exa\nmple.org/a", "https://example.org/a"),
        ("www.example.org/a", "https://www.example.org/a"),
        ("example.org", "https://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
    ],
)
def test_canonical_form(written: str, form: str) -> None:
    """Only what cannot change the answer is normalised."""
    assert canonical(written) == form


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        ("file:///etc/hosts", Outcome.REFUSED),
        ("https://me:secret@example.org/", Outcome.REFUSED),
        ("https://me@example.org/", Outcome.REFUSED),
        ("ftp://example.org/", Outcome.UNSUPPORTED),
        ("javascript:alert(1)", Outcome.UNSUPPORTED),
        ("mailto:me@example.org", Outcome.UNSUPPORTED),
        ("https://", Outcome.UNSUPPORTED),
        ("https:///path", Outcome.UNSUPPORTED),
        ("https://exa mple.org/", Outcome.UNSUPPORTED),
        ("https://example.org\\@10.0.0.5/", Outcome.UNSUPPORTED),
        ("https://example.org:99999/", Outcome.UNSUPPORTED),
        ("https://[::1/", Outcome.UNSUPPORTED),
        ("https://exa\0mple.org/", Outcome.UNSUPPORTED),
        (f"https://{'a' * 300}.org/", Outcome.UNSUPPORTED),
        ("a note, not an address", Outcome.UNSUPPORTED),
        ("", Outcome.UNSUPPORTED),
        ("12", Outcome.UNSUPPORTED),
    ],
)
def test_what_is_no_web_address(written: str, outcome: Outcome) -> None:
    """Everything else is refused with a reason, and a password is never repeated."""
    with pytest.raises(SourceError) as caught:
        canonical(written)
    assert caught.value.outcome == outcome
    assert caught.value.next_step and "secret" not in str(caught.value)


@given(st.text(max_size=60) | st.from_regex(r"https?://[a-z0-9.:\[\]@%ü]{0,20}[/?#]?[ -~ü]{0,40}", fullmatch=True))
def test_canonical_form_is_its_own(written: str) -> None:
    """Whatever is given, the outcome is an error of ours or a form that stays as it is."""
    try:
        form = canonical(written)
    except SourceError:
        return
    assert canonical(form) == form
    assert form.isascii() and "#" not in form


@pytest.mark.parametrize(
    "written",
    [
        f"https://www.youtube.com/watch?v={ID}&list=PL123&t=42s",
        f"https://youtu.be/{ID}?si=abc",
        f"https://youtu.be/{ID}?t=42",
        f"https://www.youtube.com/shorts/{ID}",
        f"https://www.youtube.com/live/{ID}?feature=share",
        f"https://www.youtube.com/embed/{ID}?start=4",
        f"http://m.youtube.com/watch?v={ID}",
        f"https://music.youtube.com/watch?v={ID}&list=RD",
        f"https://www.youtube-nocookie.com/embed/{ID}",
        f"https://www.youtube.com/v/{ID}",
        f"https://www.youtube.com/e/{ID}/",
        f"https://youtube.com/watch/{ID}",
        f"https://YOUTUBE.com/watch?app=desktop&v={ID}#t=3",
        f"https://www.youtube.com/?v={ID}",
        f"https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D{ID}%26feature%3Dshare",
        f"https://www.youtube.com/oembed?url=https%3A%2F%2Fyoutu.be%2F{ID}&format=json",
        f"https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{ID}",
        f"https://www.youtube.com/watch?v={ID}?feature=share",
        f"youtu.be/{ID}",
        f"www.youtube.com/watch?v={ID}",
    ],
)
def test_all_forms_of_a_video_are_one_source(written: str) -> None:
    """However a video is linked, it has one address and one id."""
    address = identify(written)
    assert address.kind is SourceKind.VIDEO
    assert address.location == f"https://www.youtube.com/watch?v={ID}"
    assert source_id(address.location) == source_id(identify(f"https://youtu.be/{ID}").location)


@pytest.mark.parametrize(
    "written",
    [
        f"https://youtube.com.evil.example/watch?v={ID}",
        f"https://notyoutube.com/watch?v={ID}",
        f"https://evil.example/?u=https://youtu.be/{ID}",
        "https://www.youtube.com/watch?v=short",
        "https://www.youtube.com/watch",
        "https://youtu.be/",
        f"https://consent/watch?v={ID}",
        "https://www.youtube.com/attribution_link?u=" + "%2Fattribution_link%3Fu%3D" * 50,
    ],
)
def test_what_is_no_video(written: str) -> None:
    """Look-alikes are web pages."""
    assert video_id(written) == ""


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ("https://www.youtube.com/playlist?list=PL123", "feeds/videos.xml?playlist_id=PL123"),
        ("https://www.youtube.com/embed/videoseries?list=PL123", "feeds/videos.xml?playlist_id=PL123"),
        ("https://www.youtube.com/channel/UC123/videos", "feeds/videos.xml?channel_id=UC123"),
        ("https://www.youtube.com/@museum", "channel_id="),
        ("https://www.youtube.com/c/museum", "channel_id="),
        ("https://www.youtube.com/results?search_query=z3", "the video itself"),
    ],
)
def test_channels_and_playlists_name_their_feed(written: str, step: str) -> None:
    """What is not one source says what to list instead."""
    with pytest.raises(SourceError) as caught:
        check_supported(identify(written).location)
    assert caught.value.outcome == Outcome.UNSUPPORTED
    assert step in caught.value.next_step


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("https://example.org/feed/", SourceKind.FEED),
        ("https://example.org/blog/atom.xml", SourceKind.FEED),
        ("https://www.youtube.com/feeds/videos.xml?channel_id=UC123", SourceKind.FEED),
        ("https://example.org/feedback", SourceKind.WEB),
        ("https://example.org/paper.pdf", SourceKind.WEB),
    ],
)
def test_kind_as_far_as_the_address_tells(written: str, kind: SourceKind) -> None:
    """Usual names of feeds are known; everything else is a page until it is read."""
    assert identify(written).kind is kind
    check_supported(identify(written).location)


@given(st.ip_addresses(v=4))
def test_numbers_are_addresses(address: object) -> None:
    """Decimal, hexadecimal and octal forms are the same address."""
    number = int(address)  # type: ignore[call-overload]
    for written in (str(number), hex(number), f"0{number:o}", str(address)):
        assert host_address(written) == address


def test_ids_are_short_and_stable() -> None:
    """An id is 12 hex digits of the location's hash, for names that are no Unicode too."""
    assert source_id("raw_sources/a.pdf") == "40530504add7"
    assert len(source_id("raw_sources/\udcff.pdf")) == 12


@pytest.mark.parametrize(
    ("written", "location"),
    [
        ("https://www.google.com/url?q=https://lamps.example/a%3Fb%3D1&sa=D", "https://lamps.example/a?b=1"),
        (
            "https://l.facebook.com/l.php?u=https%3A%2F%2Flamps.example%2Fa%3Futm_source%3Df&h=A",
            "https://lamps.example/a",
        ),
        ("https://www.youtube.com/redirect?event=x&q=https%3A%2F%2Flamps.example%2F", "https://lamps.example/"),
        (f"https://www.google.de/url?url=https://youtu.be/{ID}", f"https://www.youtube.com/watch?v={ID}"),
        ("https://www.google.com/url?q=file:///etc/hosts", "https://www.google.com/url?q=file:///etc/hosts"),
        (
            "https://www.google.com/search?q=https://lamps.example/",
            "https://www.google.com/search?q=https://lamps.example/",
        ),
    ],
)
def test_the_address_inside_another_is_meant(written: str, location: str) -> None:
    """What a search engine or a network puts around an address to follow people is taken off."""
    assert identify(written).location == location


@pytest.mark.parametrize(
    ("written", "location"),
    [
        ("feed:https://lamps.example/news", "https://lamps.example/news"),
        ("feed://lamps.example/news", "http://lamps.example/news"),
        ("itpc://lamps.example/talks", "http://lamps.example/talks"),
    ],
)
def test_addresses_of_feed_readers(written: str, location: str) -> None:
    """They say that a feed stands there."""
    assert (identify(written).kind, identify(written).location) == (SourceKind.FEED, location)


def test_a_channel_that_is_live_is_no_video() -> None:
    """`live_stream` has as many letters as the id of a video."""
    with pytest.raises(SourceError) as caught:
        check_supported(identify("https://www.youtube.com/embed/live_stream?channel=UC1").location)
    assert "channel_id=UC1" in caught.value.next_step
