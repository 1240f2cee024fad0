"""Small PDFs written by hand, for tests."""

from __future__ import annotations

from collections.abc import Sequence


def pdf(pages: Sequence[str], info: str = "") -> bytes:
    """A PDF whose pages draw the given content streams; fonts /F1 (Helvetica) and /F2 (bold) are there."""
    objects = [
        "",
        f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{5 + 2 * n} 0 R' for n in range(len(pages)))}]>>",
    ]
    objects[0] = "<</Type/Catalog/Pages 2 0 R>>"
    objects += [
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>",
    ]
    for number, content in enumerate(pages):
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>"
            f"/Contents {6 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(content.encode('latin-1'))}>>\nstream\n{content}\nendstream")
    if info:
        objects.append(f"<<{info}>>")
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    trailer = f"/Info {len(objects)} 0 R" if info else ""
    return data + f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()


def lines(rows: Sequence[str], top: int = 700, left: int = 72, size: int = 11, font: str = "F1", step: int = 14) -> str:
    """A content stream that sets rows one below the other."""
    return "".join(
        f"BT /{font} {size} Tf 1 0 0 1 {left} {top - step * n} Tm ({row}) Tj ET\n" for n, row in enumerate(rows)
    )


def grown(data: bytes, user: str, owner: str) -> bytes:
    """The PDF encrypted with a user's and an owner's password."""
    import io

    import pypdf

    writer = pypdf.PdfWriter(clone_from=pypdf.PdfReader(io.BytesIO(data)))
    writer.encrypt(user, owner, algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
