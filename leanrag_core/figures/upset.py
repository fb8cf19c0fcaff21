"""An UpSet picture: which items several columns share, as bars over a matrix of the columns' signs."""

from collections.abc import Mapping, Sequence

from leanrag_core.figures.drawing import Drawing, Shape, circle, column_colour, marker, path, rect, text

_LEFT, _BAR_TOP, _BAR, _ROW, _GAP = 92, 14, 34, 17, 12  # px
_MOST = 8  # intersections that are drawn; the table lists all of them
_WIDEST_STEP = 44.0


def upset(
    sizes: Mapping[str, int],
    intersections: Sequence[tuple[Sequence[str], int]],
    *,
    width: int,
    label: str,
    none: str,
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
            shapes.append(rect(0, y - _ROW / 2, width, _ROW, radius=3, fill="var(--lr-band)"))
        shapes.append(marker(letter, 8, y, 4.2))
        shapes.append(text(18, y + 4, letter, size=12, font_weight="650"))
        if size:
            shapes.append(text(54, y + 4, f"{size:,}", size=12, anchor="end"))
            shapes.append(rect(59, y - 3, 24 * size / greatest, 6, radius=1, fill=column_colour(letter)))
        else:
            shapes.append(text(32, y + 4, none, size=11.5, fill="var(--lr-mute)"))
    step = min(_WIDEST_STEP, (width - _LEFT - 8) / max(1, len(drawn)))
    most = max([n for _, n in drawn], default=1)
    for place, (owners, n) in enumerate(drawn):
        x = _LEFT + step * (place + 0.5)
        height = max(2.0, _BAR * n / most)
        colour = "var(--lr-text)" if len(owners) > 1 else column_colour(owners[0])
        title = f"{', '.join(owners)}: {n:,}"
        shapes.append(rect(x - min(8, step / 3), base - height, min(16, step / 1.5), height, title=title, fill=colour))
        shapes.append(text(x, base - height - 4, f"{n:,}", size=12, anchor="middle", font_weight="600"))
        rows = [row_y[letter] for letter in owners]
        if len(rows) > 1:
            shapes.append(path(f"M{x:.1f} {min(rows)}V{max(rows)}", stroke="var(--lr-text)", stroke_width="1.6"))
        for letter in letters:
            if letter in owners:
                shapes.append(marker(letter, x, row_y[letter], 4.1))
            else:
                shapes.append(circle(x, row_y[letter], 2, fill="var(--lr-line)"))
    return Drawing(width, int(base + _GAP + len(letters) * _ROW), label, tuple(shapes))
