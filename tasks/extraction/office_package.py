"""Office files in forms that their own programs open and the libraries do not, brought into the usual form.

Templates, slide shows and files with macros say in their list of parts that they are such, and hold the same text.
Files in the strict form of the standard give every name another address. Some programs part folders by backslashes.
And some files refer to parts that are not there: taken out, these references hide nothing.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from urllib.parse import unquote

_RELATION = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*?(?:/>|>\s*</(?:\w+:)?Relationship>)")
_TARGET = re.compile(rb"\bTarget\s*=\s*[\"']([^\"']*)[\"']")
_EXTERNAL = re.compile(rb"\bTargetMode\s*=\s*[\"']External[\"']")

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_MAIN_PART = re.compile(
    rb"application/vnd\.(?:openxmlformats-officedocument\.\w+ml\.(?:template|slideshow)"
    rb"|ms-(?:word|excel|powerpoint)\.\w+\.macroEnabled(?:Template)?)\.main\+xml"
)
_USUAL = {
    "docx": b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "pptx": b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
    "xlsx": b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
}
_TYPES = "[Content_Types].xml"


def usual(data: bytes, kind: str) -> bytes:
    """The file in the form that libraries expect; the same bytes where it is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        roots = b"".join(archive.read(name) for name in names if name.replace("\\", "/") in (_TYPES, "_rels/.rels"))
        slashes = any("\\" in name for name in names)
        if not (slashes or _STRICT.search(roots) or _MAIN_PART.search(roots)):
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as plain:
            for name in dict.fromkeys(names):
                part = archive.read(name)
                if name.endswith((".xml", ".rels")):
                    part = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", part)
                if name == _TYPES:
                    part = _MAIN_PART.sub(_USUAL[kind], part)
                plain.writestr(name.replace("\\", "/"), part)
    return out.getvalue()


def without_dangling(data: bytes) -> bytes:
    """The zip file without the references whose part it does not hold."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as sound:
        names = {name.lower() for name in archive.namelist()}
        for name in dict.fromkeys(archive.namelist()):
            part = archive.read(name)
            if name.endswith(".rels"):
                part = _checked(part, name, names)
            sound.writestr(name, part)
    return out.getvalue()


def _checked(part: bytes, name: str, names: set[str]) -> bytes:
    """The references of one part, those that lead nowhere left out."""
    folder = posixpath.dirname(posixpath.dirname(name))  # of word/_rels/document.xml.rels it is word

    def kept(match: re.Match[bytes]) -> bytes:
        target = _TARGET.search(match[0])
        if target is None or _EXTERNAL.search(match[0]):
            return match[0]
        path = unquote(target[1].decode("utf-8", "replace"))
        place = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
        return match[0] if place.lower() in names else b""

    return _RELATION.sub(kept, part)
