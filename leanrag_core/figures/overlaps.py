"""What strategies share and lose: sets of passages, and a passage's way through each of them."""

from collections.abc import Mapping, Sequence

from leanrag_core.figures.drawing import (
    DASHES,
    Drawing,
    Shape,
    circle,
    column_colour,
    fitted,
    marker,
    path,
    rect,
    text,
    text_width,
)

_Y, _LABEL_Y, _HEIGHT = 18, 43, 52
_SIZE = 12


def lane_drawing(letter: str, notes: Sequence[str], *, passed: int, stages: int, width: int, label: str) -> Drawing:
    """Return the lane of a column. letter: "" for a strategy that is no column. notes: on each stage that the evidence
    passed, then on the one that lost it. passed: how many stages it passed; all of them where it was found."""
    step = width / stages
    xs = [step * (place + 0.5) for place in range(stages)]
    is_found, colour = passed >= stages, column_colour(letter)
    last = xs[min(passed, stages - 1)]
    shapes: list[Shape] = []
    loss_left = width if is_found else _loss_left(xs[passed], notes[passed] if passed < len(notes) else "", step, width)
    if not is_found:
        shapes.append(path(f"M{last:.1f} {_Y}H{xs[-1]:.1f}", stroke="line", stroke_width="1.5", stroke_dasharray="2 4"))
    if last > xs[0]:
        dashes = DASHES.get(letter, "") or "none"
        line = f"M{xs[0]:.1f} {_Y}H{last:.1f}"
        shapes.append(path(line, stroke=colour, stroke_width="2.6", stroke_dasharray=dashes))
    for place, x in enumerate(xs):
        note = notes[place] if place < len(notes) else ""
        if is_found and place == stages - 1:
            wide = max(66.0, text_width(note, 12.5) + 18)
            left = min(x - wide / 2, width - wide - 1)
            fill = "color-mix(in srgb,var(--lr-chunk) 14%,var(--lr-bg))"
            shapes.append(rect(left, _Y - 11, wide, 22, radius=11, fill=fill, stroke="chunk", stroke_width="1.5"))
            shapes.append(text(left + wide / 2, _Y + 4.4, note, size=12.5, anchor="middle", font_weight="650"))
        elif place < passed:
            shapes.append(circle(x, _Y, 8, fill="bg"))
            shapes.append(marker(letter, x, _Y, 4.6))
            short = fitted(note, step - 6, _SIZE)
            if x + text_width(short, _SIZE) / 2 < loss_left:  # the reason of a loss near the end needs its room
                shapes.append(text(x, _LABEL_Y, short, size=_SIZE, anchor="middle", title=note, fill="mute"))
        elif place == passed:
            shapes += _loss(x, note, step, width)
        else:
            shapes.append(circle(x, _Y, 3, fill="bg", stroke="line", stroke_width="1.5"))
    return Drawing(width, _HEIGHT, label, tuple(shapes))


def _loss(x: float, note: str, step: float, width: int) -> list[Shape]:
    """Return a dashed ring with a cross, and the reason below it, as far as there is room."""
    ring = circle(x, _Y, 9, fill="bg", stroke="left", stroke_width="1.8", stroke_dasharray="3 2")
    cross = path(
        f"M{x - 4:.1f} {_Y - 4}L{x + 4:.1f} {_Y + 4}M{x + 4:.1f} {_Y - 4}L{x - 4:.1f} {_Y + 4}",
        stroke="left",
        stroke_width="2",
    )
    left = _loss_left(x, note, step, width)
    reason = text(
        left, _LABEL_Y, fitted(note, width - left, 12.5), size=12.5, title=note, font_weight="650", fill="left"
    )
    return [ring, cross, reason]


def _loss_left(x: float, note: str, step: float, width: int) -> float:
    """Return where the reason begins: below its ring, or farther left where it would not fit."""
    return max(0.0, min(x - step / 2 + 3, width - text_width(note, 12.5)))


_LEFT, _BAR_TOP, _BAR, _ROW, _GAP = 92, 14, 34, 17, 12  # px
_MOST = 8  # intersections that are drawn; the table lists all of them
_WIDEST_STEP = 44.0


def upset(
    sizes: Mapping[str, int], intersections: Sequence[tuple[Sequence[str], int]], *, width: int, label: str, none: str
) -> Drawing:
    """Return the picture. sizes: items of each column; intersections: the columns that alone have so many items, and
    how many.

    Bars of items that several columns have are dark, those of one column's own in its colour. none: what a column
    without such items is marked with.
    """
    drawn = list(intersections)[:_MOST]
    letters = list(sizes)
    base = _BAR_TOP + _BAR + 2
    row_y = {letter: base + _GAP + place * _ROW for place, letter in enumerate(letters)}
    shapes: list[Shape] = []
    greatest = max([*sizes.values(), 1])
    for place, letter in enumerate(letters):
        y, size = row_y[letter], sizes[letter]
        if place % 2 == 0:
            shapes.append(rect(0, y - _ROW / 2, width, _ROW, radius=3, fill="band"))
        shapes.append(marker(letter, 8, y, 4.2))
        shapes.append(text(18, y + 4, letter, size=12, font_weight="650"))
        if size:
            shapes.append(text(54, y + 4, f"{size:,}", size=12, anchor="end"))
            shapes.append(rect(59, y - 3, 24 * size / greatest, 6, radius=1, fill=column_colour(letter)))
        else:
            shapes.append(text(32, y + 4, none, size=11.5, fill="mute"))
    step = min(_WIDEST_STEP, (width - _LEFT - 8) / max(1, len(drawn)))
    most = max([n for _, n in drawn], default=1)
    for place, (owners, n) in enumerate(drawn):
        x = _LEFT + step * (place + 0.5)
        height = max(2.0, _BAR * n / most)
        colour = "text" if len(owners) > 1 else column_colour(owners[0])
        title = f"{', '.join(owners)}: {n:,}"
        shapes.append(rect(x - min(8, step / 3), base - height, min(16, step / 1.5), height, title=title, fill=colour))
        shapes.append(text(x, base - height - 4, f"{n:,}", size=12, anchor="middle", font_weight="600"))
        rows = [row_y[letter] for letter in owners]
        if len(rows) > 1:
            shapes.append(path(f"M{x:.1f} {min(rows)}V{max(rows)}", stroke="text", stroke_width="1.6"))
        for letter in letters:
            if letter in owners:
                shapes.append(marker(letter, x, row_y[letter], 4.1))
            else:
                shapes.append(circle(x, row_y[letter], 2, fill="line"))
    return Drawing(width, int(base + _GAP + len(letters) * _ROW), label, tuple(shapes))
