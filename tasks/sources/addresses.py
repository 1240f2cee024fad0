"""One canonical form for every web address, so that a source that is listed twice is one source.

Only what cannot change the answer is normalised: letter case of scheme and host, default ports, dot segments,
percent encoding, the fragment, and parameters that exist to follow people around. All forms of a YouTube
video become one address.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, unquote, urljoin, urlsplit

from config.errors import SourceError
from tasks.records import Outcome, SourceKind

_DEFAULT_PORTS = {"http": 80, "https": 443}
_TRACKING = frozenset(
    {
        "fbclid",
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "msclkid",
        "twclid",
        "ttclid",
        "yclid",
        "ysclid",
        "li_fat_id",
        "epik",
        "igshid",
        "igsh",
        "mc_cid",
        "mc_eid",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "__hssc",
        "__hstc",
        "__hsfp",
        "hsctatracking",
        "mkt_tok",
        "oly_anon_id",
        "oly_enc_id",
        "vero_id",
        "vero_conv",
        "wickedid",
        "rb_clickid",
        "s_cid",
        "srsltid",
        "ref_src",
        "cmpid",
        "at_medium",
        "at_campaign",
    }
)
_TRACKING_PREFIXES = ("utm_", "mtm_", "matomo_", "hsa_")
_SHARE_HOSTS = (
    "youtube.com",
    "youtu.be",
    "spotify.com",
    "soundcloud.com",
)  # elsewhere `si` may mean something
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT_IN_PATH = _UNRESERVED | frozenset(b"!$&'()*+,;=:@/")
_KEPT_IN_QUERY = _KEPT_IN_PATH | frozenset(b"?")
_PLAIN = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_BARE = re.compile(r"(www\.|m\.)?[\w-]+(\.[\w-]+)*\.[^\W\d_]{2,}(:\d+)?([/?#].*)?", re.IGNORECASE)
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_VIDEO_PATHS = frozenset({"embed", "shorts", "live", "v", "e", "vi", "watch"})
_FEED_PATH = re.compile(
    r"(/(feed|rss|atom)/?|/(feeds?|rss|atom|index)\.(xml|rss|atom|rdf)|\.(rss|atom|rdf)|/feeds/videos\.xml)$",
    re.I,
)


_WRAPPERS = (  # addresses that services put around those of others, and the parameters that hold the other one
    (re.compile(r"(?:www\.)?google\.[a-z.]{2,6}/url"), ("q", "url")),
    (re.compile(r"lm?\.(?:facebook|instagram)\.com/(?:l\.php)?"), ("u",)),
    (re.compile(r"(?:www\.)?youtube\.com/redirect"), ("q",)),
    (re.compile(r"(?:www\.)?linkedin\.com/(?:safety/go|redir/redirect)/?"), ("url",)),
    (re.compile(r"[a-z0-9-]+\.safelinks\.protection\.outlook\.com/"), ("url",)),
    (re.compile(r"slack-redir\.net/link"), ("url",)),
    (re.compile(r"(?:www\.)?duckduckgo\.com/l/"), ("uddg",)),
    (re.compile(r"accounts\.google\.com/ServiceLogin"), ("continue",)),
)
_FEED_SCHEME = re.compile(r"(?:feed|itpc|pcast|podcast):(?:(?=https?://)|//)", re.IGNORECASE)
_NO_VIDEO = frozenset({"videoseries", "live_stream"})  # words of eleven letters where else an id stands


@dataclass(frozen=True, slots=True)
class Address:
    """A web address in canonical form, and what stands there as far as the address tells."""

    kind: SourceKind  # web, video or feed
    location: str


def source_id(location: str) -> str:
    """The id of a source from its first location: 12 hex digits of sha256."""
    return hashlib.sha256(location.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def video_address(video: str) -> str:
    """The one canonical address of a YouTube video."""
    return f"https://www.youtube.com/watch?v={video}"


def identify(url: str) -> Address:
    """Kind and canonical location of an address as a person wrote it; raises as `canonical` does."""
    subscribed = _FEED_SCHEME.match(url.strip().strip("<>").strip())
    if subscribed:  # as programs that read feeds write their addresses
        plain = url.strip().strip("<>").strip()[subscribed.end() :]
        return Address(SourceKind.FEED, canonical(plain if "://" in plain.split("?", 1)[0] else f"http://{plain}"))
    location = _unwrapped(canonical(url))
    video = video_id(location)
    if video:
        return Address(SourceKind.VIDEO, video_address(video))
    if _FEED_PATH.search(urlsplit(location).path):
        return Address(SourceKind.FEED, location)
    return Address(SourceKind.WEB, location)


def _unwrapped(location: str) -> str:
    """The address inside one by which a search engine, a network or a mail guard follows people; else the same."""
    parts = urlsplit(location)
    for wrapper, names in _WRAPPERS:
        if not wrapper.fullmatch(f"{parts.netloc}{parts.path}"):
            continue
        query = parse_qs(parts.query)
        inner = next((query[name][0] for name in names if name in query), "")
        try:
            return canonical(inner) if inner.startswith(("http://", "https://")) else location
        except SourceError:
            return location
    return location


def canonical(url: str) -> str:
    """The canonical form of a web address; raises SourceError refused (passwords, file:) or unsupported."""
    text = url.strip().strip("<>").strip()
    if re.search(r"[\x00-\x20\x7f\\]", text):
        text = re.sub(r"[\t\r\n]", "", text).replace(" ", "%20")
        if re.search(r"[\x00-\x20\x7f\\]", text):
            raise _unsupported(url, "the address has control characters or backslashes in it")
    if "://" not in text.split("?", 1)[0] and _BARE.fullmatch(text):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise _unsupported(url, f"this is no address: {error}") from None
    scheme = parts.scheme.lower()
    if scheme == "file":
        raise SourceError(
            text,
            Outcome.REFUSED,
            "files of this machine are not read by address",
            "Put the file into the sources folder.",
        )
    if scheme not in _DEFAULT_PORTS:
        raise _unsupported(url, f"{scheme}: addresses cannot be read" if scheme else "this is no web address")
    if parts.username is not None or parts.password is not None:
        raise SourceError(
            f"{scheme}://{parts.hostname or ''}{parts.path}",
            Outcome.REFUSED,
            "the address carries a user name or password",
            "Write it without them.",
        )
    host = canonical_host(parts.hostname or "")
    if not host:
        raise _unsupported(url, "the address names no valid host")
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        netloc += f":{port}"
    path = _encode(_without_dots(parts.path), _KEPT_IN_PATH) or "/"
    query = _encode(_without_tracking(parts.query, host), _KEPT_IN_QUERY)
    return f"{scheme}://{netloc}{path}" + (f"?{query}" if query else "")


def canonical_host(host: str) -> str:
    """A host in lower case, IDNA and plain IP notation, without a trailing dot; '' when it is none."""
    host = unquote(host).lower().rstrip(".")
    address = host_address(host)
    if address is not None:
        return str(address)
    if not host.isascii():
        import idna  # its tables are large, and few addresses need them

        try:
            host = idna.encode(host, uts46=True).decode("ascii").rstrip(".")
        except (idna.IDNAError, UnicodeError):
            return ""
        if host_address(host) is not None:  # full-width digits are digits by now
            return str(host_address(host))
    fits = len(host) <= 253 and all(len(label) <= 63 for label in host.split("."))
    return host if fits and _HOST.fullmatch(host) else ""


def host_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a host spells in any form that resolvers accept (`127.1`, `0x7f.1`), or None."""
    text = host.strip("[]").rstrip(".")
    if ":" in text:
        try:
            return ipaddress.IPv6Address(text.split("%", 1)[0])
        except ValueError:
            return None
    pieces = text.split(".")
    if not 1 <= len(pieces) <= 4:
        return None
    try:
        numbers = [_number(piece) for piece in pieces]
    except ValueError:
        return None
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 256 ** (5 - len(numbers)):
        return None
    value = numbers[-1]
    for place, number in enumerate(numbers[:-1]):
        value += number << (8 * (3 - place))
    return ipaddress.IPv4Address(value)


def join(base: str, reference: str) -> str:
    """A reference found at `base`, made absolute; not yet canonical."""
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return reference.strip()


def video_id(url: str) -> str:
    """The id of the YouTube video that an address in any of its forms leads to, or ''."""
    parts = _youtube(url)
    if parts is None:
        return ""
    host = parts.netloc
    segments = [piece for piece in parts.path.split("/") if piece]
    query = parse_qs(parts.query)
    candidates = [segments[0]] if host == "youtu.be" and segments else []
    if host != "youtu.be":
        first = segments[0] if segments else ""
        if first in {"attribution_link", "redirect", "oembed", "m", "ml", "signin", "verify_controversy"}:
            for key in ("u", "q", "url", "continue", "next", "next_url"):
                for value in query.get(key, []):
                    inner = join("https://www.youtube.com/", value)
                    if inner != url and len(inner) < len(url) + 40 and (found := video_id(inner)):
                        return found
        if first in {"", "watch", "watch_popup", "ytscreeningroom"}:
            candidates += query.get("v", []) + query.get("vi", [])
        if first in _VIDEO_PATHS and len(segments) > 1:
            candidates.append(segments[1])
    for candidate in candidates:
        candidate = re.split(r"[?&#]", candidate)[0]
        if _VIDEO_ID.fullmatch(candidate) and candidate not in _NO_VIDEO:
            return candidate
    return ""


def check_supported(location: str) -> None:
    """Raises SourceError unsupported for YouTube addresses that are neither video nor feed, with what to
    list.
    """
    parts = _youtube(location)
    if parts is None or video_id(location) or parts.path.startswith(("/feeds/", "/robots.txt")):
        return
    segments = [piece for piece in parts.path.split("/") if piece]
    first = segments[0] if segments else ""
    playlist = parse_qs(parts.query).get("list", [""])[0]
    feed = "https://www.youtube.com/feeds/videos.xml"
    if playlist:
        cause, step = (
            "a YouTube playlist is not one source",
            f"List its feed {feed}?playlist_id={playlist}, or its videos.",
        )
    elif channel := (segments[1:2] if first == "channel" else parse_qs(parts.query).get("channel", [])):
        cause, step = (
            "a YouTube channel is not one source",
            f"List its feed {feed}?channel_id={channel[0]}, or its videos.",
        )
    elif first.startswith("@") or first in {"c", "user"}:
        cause = "a YouTube channel is not one source"
        step = f"List its feed {feed}?channel_id=… (on its page: Share, Copy channel ID), or its videos."
    else:
        cause, step = "this YouTube address is no video", "List the address of the video itself."
    raise SourceError(location, Outcome.UNSUPPORTED, cause, step)


def _youtube(url: str) -> SplitResult | None:
    """The parts of a YouTube address, its host reduced to youtube.com or youtu.be; None for any other."""
    text = url.strip()
    if "://" not in text.split("?", 1)[0]:
        text = "https://" + text.removeprefix("//")
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS:
        return None
    if host in {"youtu.be", "www.youtu.be"}:
        return parts._replace(netloc="youtu.be")
    for name in ("youtube.com", "youtube-nocookie.com", "youtubekids.com", "youtube.googleapis.com"):
        if host == name or host.endswith(f".{name}"):
            return parts._replace(netloc="youtube.com")
    return None


def _number(piece: str) -> int:
    """A part of an IPv4 address in decimal, octal or hexadecimal; raises ValueError."""
    if re.fullmatch(r"0x[0-9a-f]*", piece, re.I):
        return int(piece[2:] or "0", 16)
    if not re.fullmatch(r"[0-9]+", piece) or len(piece) > 40:
        raise ValueError(piece)
    return int(piece, 8) if piece.startswith("0") and len(piece) > 1 else int(piece)


def _without_dots(path: str) -> str:
    """The path with `.` and `..` carried out (RFC 3986, 5.2.4); encoded dots count, as in browsers."""
    kept: list[str] = []
    pieces = path.split("/")
    for place, piece in enumerate(pieces):
        plain = piece.replace("%2e", ".").replace("%2E", ".")
        if plain not in {".", ".."}:
            kept.append(piece)
            continue
        if plain == ".." and len(kept) > 1:
            kept.pop()
        if place == len(pieces) - 1:
            kept.append("")
    return "/".join(kept)


def _without_tracking(query: str, host: str) -> str:
    share = any(host == name or host.endswith(f".{name}") for name in _SHARE_HOSTS)
    kept = []
    for pair in query.split("&"):
        key = unquote(pair.split("=", 1)[0]).lower()
        tracks = key in _TRACKING or key.startswith(_TRACKING_PREFIXES) or (share and key in {"si", "feature", "pp"})
        if pair and not tracks:
            kept.append(pair)
    return "&".join(kept)


def _encode(text: str, kept: frozenset[int]) -> str:
    """Percent-encode what must be, decode what need not be, hex digits in upper case."""
    if _PLAIN.fullmatch(text):
        return text
    data = text.encode("utf-8", "surrogatepass")
    out: list[str] = []
    place = 0
    while place < len(data):
        byte = data[place]
        if byte == 0x25 and re.fullmatch(rb"[0-9A-Fa-f]{2}", data[place + 1 : place + 3]):
            value = int(data[place + 1 : place + 3], 16)
            out.append(chr(value) if value in _UNRESERVED else f"%{value:02X}")
            place += 3
            continue
        out.append(chr(byte) if byte in kept else f"%{byte:02X}")
        place += 1
    return "".join(out)


def _unsupported(url: str, cause: str) -> SourceError:
    return SourceError(_shown(url), Outcome.UNSUPPORTED, cause, "Give an address that begins with https:// or http://.")


def _shown(url: str) -> str:
    """The address as it may be printed: short, and never with a password."""
    text = re.sub(r"//[^/@\s]*@", "//", url.strip())
    return text if len(text) <= 200 else text[:199] + "…"
