"""Small files that take hours or gigabytes to read, made in memory."""

import io
import zipfile
import zlib


def pdf(objects: list[bytes]) -> bytes:
    """Return a PDF of numbered objects; the first one is its catalogue."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out + b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b /Length %d>> stream\n%b\nendstream" % (entries, len(content), content)


def nested_forms(depth: int = 9, times: int = 10) -> bytes:
    """Return a page that draws a form ten times, which draws another one ten times, and so on: 10 ** depth texts."""
    font = b"/Font <</F 4 0 R>>"
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 5 0 R /Resources <</XObject <</X 6 0 R>>>>>>",
        b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
        stream(b"/X Do"),
    ]
    for level in range(depth):
        inner = b"<</XObject <</X %d 0 R>>>>" % (7 + level)
        entries = b"/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources "
        objects.append(stream(b"/X Do " * times, entries + inner))
    objects.append(
        stream(b"BT /F 9 Tf (bee) Tj ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <<" + font + b">>")
    )
    return pdf(objects)


def deflated_zeros(n_mb: int) -> bytes:
    """Return so many megabytes of zeros, deflated; made of one megabyte's bytes, repeated."""
    size = 1 << 20
    packer = zlib.compressobj(9)
    first = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(size)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = (n_mb * size % 65521) << 16 | 1
    return first + again * (n_mb - 1) + b"\x03\x00" + checksum.to_bytes(4, "big")


def inflating_pdf(n_mb: int = 4096) -> bytes:
    """Return a page whose content is deflated twice: some kilobytes that become gigabytes."""
    content = zlib.compress(deflated_zeros(n_mb), 9)
    return pdf(
        [
            b"<</Type /Catalog /Pages 2 0 R>>",
            b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
            b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R>>",
            stream(content, b"/Filter [/FlateDecode /FlateDecode]"),
        ]
    )


def wide_csv(columns: int = 1_000_000, rows: int = 20) -> bytes:
    """Return a table of so many columns."""
    return b"\n".join([b",".join(b"c%d" % column for column in range(columns)), *[b"1," * (columns - 1) + b"2"] * rows])


def large_docx(n_mb: int = 490) -> bytes:
    """Return a DOCX whose text is so many megabytes of short paragraphs."""
    space = "http://schemas.openxmlformats.org/"
    paragraph = b"<w:p><w:r><w:t>bee</w:t></w:r></w:p>"
    block = paragraph * ((1 << 20) // len(paragraph))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{space}package/2006/content-types"><Default Extension="rels" ContentType="application/'
            'vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType='
            '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{space}package/2006/relationships"><Relationship Id="rId1" Type="{space}'
            'officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        with archive.open("word/document.xml", "w") as part:
            part.write(f'<w:document xmlns:w="{space}wordprocessingml/2006/main"><w:body>'.encode())
            for _ in range(n_mb):
                part.write(block)
            part.write(b"</w:body></w:document>")
    return buffer.getvalue()
