"""A mail saved as a file: its subject, its writer, its day and its text. What is attached to it is named, not read.

Of a text that a mail holds twice, plain and as HTML, the plain one is what its writer typed; a newsletter's plain one
is made by a machine, of addresses for the most part, and its HTML is read.
"""

from __future__ import annotations

import email
import email.errors
import email.header
import email.policy
import email.utils
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message

from config.errors import SourceError
from tasks.extraction import text as plain_text
from tasks.extraction.decode import decode
from tasks.extraction.extracted import Extracted, one_line
from tasks.records import BlockKind, Outcome, Part

_DEEPEST = 20
_LEAST_SHARE = 0.5  # of the words of a mail's HTML that its plain text must have to be taken for it
_ANSWER = re.compile(
    r"(?:(?:re|aw|antw|sv|vs|odp|rif|fwd?|wg|tr|doorst|enc|rv|回复|答复|转发)(?:\[\d+\])?\s*[:：]\s*)+", re.I
)
_ADDRESS = re.compile(r"\(?<?https?://\S+>?\)?")
_TAGS = re.compile(r"<(style|script|head|title)\b.*?</\1\s*>|<[^>]*>", re.I | re.S)
_SEPARATOR = re.compile(r"From [^\n]+\n(?=[A-Za-z][A-Za-z0-9-]*:)")
_PGP = "-----BEGIN PGP MESSAGE-----"
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_SEALED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})


@dataclass(slots=True)
class _Content:
    """What a mail holds, in its order; lives while it is read."""

    texts: list[Message] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)


def extract(data: bytes, text: str, name: str = "") -> Extracted:
    """The text of one mail. Raises SourceError `needs_password`, `unsupported` or `no_content`.

    `text` is `data` as a whole decoded: it tells a box of several mails from one.
    """
    boxed = _SEPARATOR.match(text)
    if boxed and any(text.startswith("\n", found.start() - 2) for found in _SEPARATOR.finditer(text, boxed.end())):
        raise SourceError(
            name, Outcome.UNSUPPORTED, "it is a box of several mails", "Save each mail as a file (.eml) of its own."
        )
    if boxed:
        data = data[data.index(b"\n") + 1 :]
    message = email.message_from_bytes(data, policy=email.policy.compat32)
    content = _Content()
    _take_apart(message, content, name, 0)
    parts = tuple(part for one in content.texts for part in _parts(one, name))
    left = ", ".join(content.attached)
    if not parts:
        step = f"Drop what is attached here as files of their own: {left}." if left else ""
        raise SourceError(name, Outcome.NO_CONTENT, "the mail has no text", step)
    if content.attached:
        parts += (Part(BlockKind.LIST, "\n".join(f"- 📎 {attached}" for attached in content.attached)),)
    writer, address = email.utils.parseaddr(_header(message, "From"))
    return Extracted(
        "text",
        parts,
        title=_ANSWER.sub("", _header(message, "Subject"), count=1) or _header(message, "Subject"),
        author=one_line(writer) or address,
        published=_day(message),
        notes=(f"attached to it and not read: {left}",) if left else (),
    )


def _take_apart(part: Message, content: _Content, name: str, depth: int) -> None:
    """Sorts a part, with all inside it, into texts to read and attachments to name."""
    kind = part.get_content_type()
    if kind == "multipart/encrypted" or (kind in _SEALED and part.get_param("smime-type") != "signed-data"):
        raise SourceError(
            name, Outcome.NEEDS_PASSWORD, "the mail is encrypted", "Open it in its program and drop its text here."
        )
    if part.is_multipart() and kind.startswith("multipart/") and depth < _DEEPEST:
        inner = [one for one in part.get_payload() if isinstance(one, Message)]
        if kind == "multipart/alternative":
            inner = _best(inner)
        for number, one in enumerate(inner):
            if kind != "multipart/related" or not number or one.get_content_disposition() == "attachment":
                _take_apart(one, content, name, depth + 1)
        return
    attached = part.get_content_disposition() == "attachment"
    if kind in ("text/plain", "text/html") and not attached and not _file_name(part):
        content.texts.append(part)
    elif kind == "message/rfc822":
        held = part.get_payload()
        subject = _header(held[0], "Subject") if isinstance(held, list) and isinstance(held[0], Message) else ""
        content.attached.append(subject or _file_name(part) or "message.eml")
    elif kind not in _SIGNATURES:
        content.attached.append(_file_name(part) or kind)


def _best(versions: list[Message]) -> list[Message]:
    """Of several versions of the same text the one to read."""
    plain = next((one for one in versions if one.get_content_type() == "text/plain"), None)
    rich = [
        one for one in versions if one is not plain and one.get_content_type() in ("text/html", "multipart/related")
    ]
    if plain is None or not rich:
        return [plain] if plain is not None else versions[-1:]
    page = next((one for one in rich[-1].walk() if one.get_content_type() == "text/html"), None)
    typed, shown = _text(plain), _TAGS.sub(" ", _text(page) if page is not None else "")
    words = _ADDRESS.sub(" ", typed).split()
    mostly_words = 2 * sum(map(len, words)) > sum(map(len, typed.split()))
    return [plain] if mostly_words and len(words) >= _LEAST_SHARE * len(shown.split()) else rich[-1:]


def _parts(part: Message, name: str) -> Iterator[Part]:
    """The blocks of one text of a mail; lines that answer to another mail are quotations."""
    text = _text(part)
    if _PGP in text:
        raise SourceError(
            name, Outcome.NEEDS_PASSWORD, "the mail is encrypted", "Open it in its program and drop its text here."
        )
    if part.get_content_type() == "text/html":
        from tasks.extraction import html

        yield from html.extract(text, name).parts
        return
    run: list[str] = []
    quoted = False
    for line in [*text.split("\n"), None]:
        begins = line is not None and line.startswith(">")
        if (line is None or begins != quoted) and run:
            yield from _quotation(run) if quoted else _paragraphs("\n".join(run))
            run = []
        quoted = begins
        if line is not None:
            run.append(line)


def _paragraphs(text: str) -> Iterator[Part]:
    """The blocks of a text; no line of a letter is its title because it stands alone."""
    for part in plain_text.extract(text).parts:
        yield Part(BlockKind.PARAGRAPH, part.text) if part.kind is BlockKind.HEADING else part


def _quotation(lines: list[str]) -> Iterator[Part]:
    """Lines of a mail that is answered to, as a quotation of its paragraphs."""
    words = "\n".join(re.sub(r"^(?:>[ \t]?)+", "", line) for line in lines)
    text = "\n".join(part.text for part in plain_text.extract(words).parts)
    if text:
        yield Part(BlockKind.QUOTE, text)


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    charset = part.get_content_charset() or ""
    decoded = decode(payload, f"{part.get_content_type()}; charset={charset}")
    text = decoded.text if decoded else ""
    return text if part.get_param("format") != "flowed" else _unflowed(text)


def _unflowed(text: str) -> str:
    """Text whose soft line ends are marked by a blank before them (RFC 3676), its paragraphs in one line each."""
    return re.sub(r"(?m)^(>*)( ?)(?!-- $)(.*?) \n(?=\1(?!>))\1 ?", r"\1\2\3 ", text)


def _header(message: Message, name: str) -> str:
    """The words of a header, decoded; '' when it is not there."""
    value = message.get(name)
    try:
        words = str(email.header.make_header(email.header.decode_header(value))) if value is not None else ""
    except (email.errors.HeaderParseError, LookupError, ValueError):  # broken, or in an unknown alphabet
        words = str(value)
    return one_line(words)


def _file_name(part: Message) -> str:
    """The name of an attached file, decoded."""
    name = part.get_filename() or ""
    try:
        return one_line(str(email.header.make_header(email.header.decode_header(name))))
    except (email.errors.HeaderParseError, LookupError, ValueError):  # as above
        return one_line(name)


def _day(message: Message) -> str:
    try:
        return email.utils.parsedate_to_datetime(str(message.get("Date", ""))).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
