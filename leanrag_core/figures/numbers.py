"""Numbers and times as a reader wants them: units, thousands, no false precision."""

import math
from datetime import UTC, date, datetime


def counted(n: int, singular: str, many: str = "") -> str:
    """Write a count with its unit: "1 chunk", "1,234 chunks"."""
    return f"{n:,} {singular if n == 1 else many or singular + 's'}"


def of_unit(n: int, plural: str) -> str:
    """Write a count, its unit given as progress names it: "1 entity", "3 entities"."""
    return counted(n, plural[:-3] + "y" if plural.endswith("ies") else plural.removesuffix("s"), plural)


def tokens(n: int) -> str:
    """Write a number of tokens: whole below 10,000, then "12 k", "4.1 M"."""
    if n < 10_000:
        return f"{n:,}"
    if n < 999_500:
        return f"{n / 1000:.0f} k"
    return f"{n / 1_000_000:.1f} M"


def size(n_bytes: int) -> str:
    """Return bytes as "820 B", "14 kB", "3.2 MB"."""
    if n_bytes < 1000:
        return f"{n_bytes} B"
    if n_bytes < 999_500:
        return f"{n_bytes / 1000:.0f} kB"
    if n_bytes < 999_950_000:
        return f"{n_bytes / 1_000_000:.1f} MB"
    return f"{n_bytes / 1_000_000_000:.1f} GB"


def money(dollars: float) -> str:
    """Write dollars: "$0", "$1,234", "$2.50" to the cent, below ten cents two figures: "$0.034"."""
    if dollars < 5e-9:
        return "$0"
    if dollars >= 999.5:
        return f"${dollars:,.0f}"
    if dollars >= 0.0995:
        return f"${dollars:.2f}"
    places = 1 - math.floor(math.log10(dollars))
    return f"${dollars:.{min(places, 8)}f}"


def duration(seconds: float) -> str:
    """Write seconds: "820 ms", "3.4 s", "48 s", "39 min", "1 h 20 min"."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    minutes = math.floor(seconds / 60 + 0.5)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def remaining(seconds: float) -> str:
    """Write seconds that are left, rounded up: in steps of 5 s below two minutes, so that it does not flicker, then in
    minutes."""
    if seconds < 119.5:
        return f"{max(5, 5 * math.ceil(seconds / 5))} s"
    return duration(60 * math.ceil(seconds / 60 - 1e-9))


def share(part: float, places: int = 0) -> str:
    """Write a share, 0.36 as "36 %"."""
    return f"{part * 100:,.{places}f} %"


def change(part: float) -> str:
    """Write by which share something changes: "+14 %", "−2 %"; "0 %" where it rounds to nothing."""
    shown = share(abs(part))
    return shown if shown == share(0) else f"{'+' if part > 0 else '−'}{shown}"


def decimal(value: float, places: int = 1) -> str:
    """Write a number with a true minus sign: "1,234.5", "−3.2"."""
    digits = f"{abs(value):,.{places}f}"
    return f"−{digits}" if value < 0 and float(digits.replace(",", "")) else digits


def score(value: float, places: int = 2) -> str:
    """Return a score between 0 and 1 as ".83", "1.00", "−.20"."""
    return (
        decimal(value, places).replace("0.", ".", 1) if abs(value) < 1 - 0.5 * 10**-places else decimal(value, places)
    )


def difference(value: float, places: int = 2) -> str:
    """Return a difference of scores, always with its sign: "+.16", "−.01"; ".00" where it rounds to nothing."""
    shown = score(value, places)
    return f"+{shown}" if value > 0 and any(digit in "123456789" for digit in shown) else shown


def p_value(p: float) -> str:
    """Write a p-value: ".71", ".004", "< .001"."""
    return "< .001" if p < 0.001 else score(p, 3 if p < 0.0995 else 2)


def signed(n: int) -> str:
    """Write a number with a true minus sign: "+164", "−20"."""
    return f"+{n:,}" if n > 0 else f"−{-n:,}" if n < 0 else "0"


def day(iso: str, language: str = "en") -> str:
    """Return an ISO time as "19 Nov 2026, 14:02", in Chinese "2026年11月19日 14:02", in the machine's own zone.

    A text that is not a time is returned as it is.
    """
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    local = moment.astimezone()
    if language == "en":
        return f"{date_alone(local, language)}, {local:%H:%M}"
    return f"{date_alone(local, language)} {local:%H:%M}"


def date_alone(when: date, language: str = "en") -> str:
    """Return "19 Nov 2026", in Chinese "2026年11月19日"."""
    if language == "en":
        return f"{when.day} {when:%b %Y}"
    from babel.dates import format_date

    return str(format_date(when, "long", locale=language))
