"""What a browser sends as the picture of a view: a slide of pixels alone, or refused with the reason."""

import base64
import io

import pytest
from PIL import Image, PngImagePlugin

from leanrag_core.errors import InvalidConfig
from leanrag_core.presenting.sent_pictures import picture_sent
from leanrag_core.presenting.story import MAX_PICTURE, AddedPicture


def png(width: int = 16, height: int = 12, text: str = "") -> str:
    drawn = Image.new("RGB", (width, height), "#2368A8")
    drawn.putpixel((3, 4), (198, 78, 7))
    about, written = PngImagePlugin.PngInfo(), io.BytesIO()
    if text:
        about.add_text("Comment", text)
    drawn.save(written, "PNG", pnginfo=about)
    return uri(written.getvalue())


def uri(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def content_of(picture: str) -> bytes:
    return base64.b64decode(picture.partition(",")[2])


SENT = {"light": png(), "dark": png(), "width": 8, "height": 6, "title": "Map, Bees", "note": "All 25 nodes"}


def slide_of(**changed: object) -> AddedPicture:
    return picture_sent({**SENT, **changed}, index="Bees", made="2026-11-24")


def test_a_picture_is_written_again_with_its_pixels_and_nothing_else() -> None:
    slide = slide_of(light=png(text="<script>alert(1)</script>"), title="Bees \u202e", note="n" * 5_000)
    content = content_of(slide.light)
    image = Image.open(io.BytesIO(content)).convert("RGB")
    assert (image.size, image.getpixel((0, 0)), image.getpixel((3, 4))) == ((16, 12), (35, 104, 168), (198, 78, 7))
    assert b"script" not in content
    assert (slide.width, slide.height, slide.index, slide.made) == (8, 6, "Bees", "2026-11-24")
    assert "\u202e" not in slide.title
    assert len(slide.note) == 1_000


def test_rare_colours_and_grounds_stay_among_thousands_of_others() -> None:
    drawn = Image.linear_gradient("L").resize((300, 300)).convert("RGB")
    pixels = drawn.load()
    for n in range(20_000):
        pixels[n % 300, 150 + n // 300] = (40 + n % 30, 40 + n // 30 % 30, 40 + n // 900 % 30)
    drawn.paste("#16181B", (0, 0, 300, 100))
    drawn.paste("#C64E07", (20, 20, 23, 23))
    drawn.paste("#009470", (60, 20, 63, 23))
    written = io.BytesIO()
    drawn.save(written, "PNG")
    image = Image.open(io.BytesIO(content_of(slide_of(light=uri(written.getvalue()), width=300, height=300).light)))
    kept = image.convert("RGB")
    assert [kept.getpixel(at) for at in ((5, 5), (21, 21), (61, 21))] == [(22, 24, 27), (198, 78, 7), (0, 148, 112)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"light": ""},
        {"dark": uri(b"<svg><script>alert(1)</script></svg>", "image/svg+xml")},
        {"light": uri(b"<script>", "text/html")},
        {"light": uri(b"<script>")},
        {"light": uri(b"\x89PNG\r\n\x1a\n and then nothing")},
        {"light": png()[:-40]},
        {"light": "data:image/png;base64,!"},
        {"light": "https://example.invalid/x.png"},
        {"width": 0},
        {"height": 20_000},
        {"height": "6"},
        {"width": True},
    ],
)
def test_what_is_no_picture_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidConfig, match="no picture"):
        slide_of(**wrong)


def test_nothing_at_all_and_too_much_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="no picture"):
        picture_sent(None, index="Bees", made="2026-11-24")
    with pytest.raises(InvalidConfig, match="too large"):
        slide_of(dark=png() + "A" * MAX_PICTURE)
    with pytest.raises(InvalidConfig, match="too large"):
        slide_of(dark=png(width=2_000, height=2_000))
