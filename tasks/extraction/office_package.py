"""Office files that refer to parts that are not there: programs write such files, and Word opens them.

The libraries give up on the first of these references. Taken out, the rest of the file can be read.
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
