"""Dates that a sentence says, in English and Chinese: when something held, began, ended or happened.

Plain rules over absolute dates. A bare year counts after a word such as "in" or "since", or as one end of a range;
dates of numbers alone count as YYYY-MM-DD or YYYY-MM, since 3/4/2020 is two days. Relative dates ("last year") count
where the day, month or year of the text itself is known.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

SPAN, POINT = "span", "point"
_MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sept", "sep"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
_MONTH = rf"(?:{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})\b\.?"
_YEAR = r"(?:1\d{3}|20\d{2}|21\d{2})"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH_N = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_DAY_N = rf"(?:{_DAY}|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
_DASH = "-–—~～－"
_TOKEN = re.compile(
    rf"(?<![\w.,/$£€¥-])(?P<iso>{_YEAR})[-/](?P<iso_month>0[1-9]|1[0-2])(?:[-/](?P<iso_day>0[1-9]|[12]\d|3[01]))?(?![\d/-])"
    rf"|(?<![\d.])(?P<cn>{_YEAR})\s?年(?P<decade_cn>代)?(?:\s?(?P<cn_month>{_MONTH_N})\s?月份?(?:\s?(?P<cn_day>{_DAY_N})\s?[日号])?)?"
    rf"|(?<!\w)(?P<dmy>{_DAY})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<dmy_month>{_MONTH}),?\s+(?P<dmy_year>{_YEAR})\b"
    rf"|(?<!\w)(?P<mdy_month>{_MONTH})\s+(?P<mdy>{_DAY})(?:st|nd|rd|th)?,?\s+(?P<mdy_year>{_YEAR})\b"
    rf"|(?<!\w)(?P<my_month>{_MONTH}),?\s+(?:of\s+)?(?P<my_year>{_YEAR})\b"
    rf"|(?<![\w.,/$£€¥#:])(?P<year>{_YEAR})(?P<decade>s\b)?(?![\w%]|[.,:]\d|/)",
    re.IGNORECASE,
)
_PART = (
    r"(?:(?:the|very|early|late|mid|year|years|spring|summer|autumn|fall|winter|end|beginning|start|middle|course|"
    r"season|first|second|third|last|half|quarter|about|around|circa|approximately|at\s+least)(?:\s+of)?[\s-]+)*"
)
_LEAD = re.compile(
    r"(?:\b(?P<since>not\s+(?:\w+\s+)?until|since|from|after|starting(?:\s+(?:in|on|from))?|beginning(?:\s+(?:in|on))|effective)"
    r"|\b(?P<until>until|till|up\s+(?:to|until)|through|before|prior\s+to|ending\s+(?:in|on))"
    r"|\b(?P<between>between)"
    r"|\b(?P<point>in|on|during|by|of|as\s+of|at|around|about|circa|dated|born|founded|established|built|died|est\.|"
    r"throughout|late|early|mid|summer|winter|spring|autumn)|(?P<abbreviated>\bca?\.))"
    rf"[\s-]+{_PART}$",
    re.IGNORECASE,
)
_TO = re.compile(
    rf"\s*(?:[{_DASH}]|\bto\b|\b(?:up\s+)?until\b|\btill\b|\bthrough\b|\bup\s+to\b|到|至)\s*", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:\band\b|和|与)\s*", re.IGNORECASE)
_LISTED = re.compile(r"\s*(?:,\s*(?:and|or)?|and|or|&|、|和)\s*", re.IGNORECASE)
_TO_NOW = re.compile(
    rf"\s*(?:(?:[{_DASH}]|\bto|\buntil|\bthrough)\s*(?:the\s+)?(?:present(?:\s+day)?|now|today|date)\b|\bonwards?\b|\bon(?=[\s,.]|$)"
    r"(?!\s+(?:the|a|an|his|her|its|their)\b)|\band\s+(?:after|later|since)\b|起|以来|以后|之后|后|至今|开始)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?:以前|之前|前|为止|止)")
_LEAD_CN = re.compile(r"(?:(?P<since>自从|自|从|由|于)|(?P<until>直到|直至|到|至))\s*$")
_UNITS = re.compile(
    r"\s+(?:people|men|women|soldiers|troops|inhabitants|members|students|workers|copies|words|tokens|pages|steps|"
    r"metres|meters|miles|feet|km|kg|tons?|tonnes|dollars|pounds|euros|years|days|hours|cases|units|points|species|"
    r"votes|others|different|more|or\s+more)\b",
    re.IGNORECASE,
)
_SHORT_RANGE = re.compile(r"–(\d{2})(?!\d)")
_MONTH_TO_MONTH = re.compile(
    rf"(?<!\w)(?P<first>{_MONTH})\s*(?:[{_DASH}]|to|until|through)\s*(?={_MONTH}\s+(?P<year>{_YEAR})\b)", re.IGNORECASE
)
_MONTH_CN = re.compile(rf"(?P<month>{_MONTH_N})\s?月份?(?:\s?(?P<day>{_DAY_N})\s?[日号])?")
_NUMERALS = re.compile(r"[〇零○一二三四五六七八九]{4}(?=年)")
_DIGITS = str.maketrans("〇零○一二三四五六七八九", "000123456789")
_MAYBE = re.compile(r"[12]\d{3}|[一二]\S{3}年")
_AGO = re.compile(
    r"\b(?P<word>yesterday|today|tomorrow)\b|\b(?P<which>last|this|next)\s+(?P<unit>year|month)\b|"
    r"(?<![\d.])(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s+(?P<ago>years?|months?|days?)\s+ago\b|"
    r"(?P<cn>前年|去年|今年|明年|上个?月|本月|这个月|下个?月|昨[天日]|今[天日]|明[天日])|(?<!\d)(?P<cn_n>\d{1,3})\s?年前",
    re.IGNORECASE,
)
_WORDS = {
    word: n for n, word in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1)
}
_SHIFTED = {
    **{"yesterday": ("day", -1), "today": ("day", 0), "tomorrow": ("day", 1)},
    **{"last": ("", -1), "this": ("", 0), "next": ("", 1)},
    **{"前年": ("year", -2), "去年": ("year", -1), "今年": ("year", 0), "明年": ("year", 1)},
    **{"上月": ("month", -1), "上个月": ("month", -1), "本月": ("month", 0), "这个月": ("month", 0)},
    **{"下月": ("month", 1), "下个月": ("month", 1)},
    **{f"{prefix}{day}": ("day", n) for prefix, n in (("昨", -1), ("今", 0), ("明", 1)) for day in "天日"},
}
LATER, ENDED = "later", "ended"


@dataclass(frozen=True)
class TimeSpan:
    """When something held or happened, as a text says it. since, until: inclusive, each a year, a month or a day as
    YYYY[-MM[-DD]], as precise as the text; empty for an open end. kind: SPAN, or POINT for what happened then. start,
    end: characters of the text.
    """

    since: str
    until: str
    kind: str
    start: int
    end: int

    @property
    def is_point(self) -> bool:
        """Whether this is when something happened, not how long it held."""
        return self.kind == POINT

    def written(self) -> str:
        """Return the span in one line: 1998, 2001-03/2004, 2019/.. or ../2020-05-03."""
        if self.since == self.until:
            return self.since
        return f"{self.since or '..'}/{self.until or '..'}"

    def outside(self, day: str) -> str:
        """Return why this is not valid on that day, month or year: LATER where it had not begun, ENDED where it was
        over; empty where it is valid. What happened once is not over afterwards. Dates are compared as far as both are
        known."""
        if self.since and _after(self.since, day):
            return LATER
        if self.until and not self.is_point and _after(day, self.until):
            return ENDED
        return ""


def _after(day: str, bound: str) -> bool:
    length = min(len(day), len(bound))
    return day[:length] > bound[:length]


@dataclass(frozen=True)
class _Token:
    since: str
    until: str
    start: int
    end: int
    bare: bool  # a year alone, which may be any other number
    chinese: bool = False


def time_spans(text: str, said_on: str = "") -> tuple[TimeSpan, ...]:
    """Return when what the text says held or happened, in the order of the text. said_on: the date of the text itself
    as YYYY[-MM[-DD]], which relative dates count from; without it they are not read."""
    spans: list[TimeSpan] = []
    if _MAYBE.search(text):
        spans = list(_absolute(_NUMERALS.sub(lambda match: match[0].translate(_DIGITS), text)))
    if said_on:
        absolute_places = [(span.start, span.end) for span in spans]
        spans += [
            span
            for span in _relative(text, said_on)
            if not any(a < span.end and span.start < b for a, b in absolute_places)
        ]
    return tuple(sorted(spans, key=lambda span: (span.start, span.end)))


_HEAD = 2_000  # characters of a text in which its own date is looked for
_HEADS = "date|dated|published|publication date|created|updated|日期|发布日期|发表日期"
_DATED = re.compile(
    rf"^[\s>*#|-]*[\"']?(?:{_HEADS})[\"']?\s*\**\s*[:：|]\s*\**\s*[\"']?(\d{{4}})(?:[-/.年](\d{{1,2}})(?:[-/.月](\d{{1,2}}))?)?(?!\d)",
    re.IGNORECASE | re.MULTILINE,
)


def date_of_text(text: str) -> str:
    """Return the date that the text gives of itself at its beginning, such as "Date: 2024-05-01"; else nothing."""
    match = _DATED.search(text[:_HEAD])
    return "" if match is None else _day(*match.groups())


def is_relative(text: str) -> bool:
    """Return whether the text says a date that counts from its own, such as "last year"."""
    return _AGO.search(text) is not None


def _absolute(text: str) -> Iterator[TimeSpan]:
    tokens = [token for match in _TOKEN.finditer(text) if (token := _token(match)) is not None]
    for match in _MONTH_TO_MONTH.finditer(text):
        month = _month(match["first"])
        first = f"{match['year']}-{month:02}"
        tokens.append(_Token(first, first, match.start(), match.start() + len(match["first"]), bare=False))
    tokens.sort(key=lambda token: token.start)
    place, listed = 0, -1  # listed: where the last point ends, which more years may follow
    while place < len(tokens):
        token = tokens[place]
        before = text[: token.start]
        lead = _LEAD_CN.search(before) if token.chinese else _LEAD.search(before)
        kind = lead.lastgroup if lead else ""
        if token.bare and kind in ("since", "until") and before.endswith("the "):  # such as "from the 2015 film"
            kind = "point"
        begins = lead.start() if lead else token.start
        second = _range_end(text, token, tokens[place + 1 : place + 2], kind or "")
        if second is not None:
            yield TimeSpan(token.since, second.until, SPAN, begins, second.end)
            place += 2 if place + 1 < len(tokens) and tokens[place + 1].start < second.end else 1
            continue
        place += 1
        after = text[token.end :]
        if token.bare and _UNITS.match(after):
            continue
        short = _SHORT_RANGE.match(after) if token.bare else None
        open_end = _TO_NOW.match(after)
        if short and (until := token.since[:2] + short[1]) > token.since:
            yield TimeSpan(token.since, until, SPAN, begins, token.end + short.end())
        elif open_end and (token.chinese or not token.bare or kind in ("since", "point") or "pres" in open_end[0]):
            yield TimeSpan(token.since, "", SPAN, begins, token.end + open_end.end())
        elif token.chinese and (closed := _BEFORE.match(after)):
            yield TimeSpan("", token.until, SPAN, begins, token.end + closed.end())
        elif kind == "since" and not (token.chinese and lead and lead[0].strip() == "于"):
            yield TimeSpan(token.since, "", SPAN, begins, token.end)
        elif kind == "until":
            yield TimeSpan("", token.until, SPAN, begins, token.end)
        elif not token.bare or kind in ("point", "abbreviated") or _LISTED.fullmatch(text, listed, token.start):
            yield TimeSpan(token.since, token.until, POINT, begins, token.end)
            listed = token.end


def _range_end(text: str, first: _Token, following: list[_Token], kind: str) -> _Token | None:
    """Return the second end of a range that the token begins."""
    if following:
        second = following[0]
        between = text[first.end : second.start]
        joined = _TO.fullmatch(between) or (kind == "between" and _AND.fullmatch(between))
        if joined and not _after(first.since, second.until):
            return second
    if first.chinese and (to := _TO.match(text, first.end)) and (month := _MONTH_CN.match(text, to.end())):
        until = _day(first.since[:4], month["month"], month["day"])
        if until and not _after(first.since, until):
            return _Token(until, until, month.start(), month.end(), bare=False, chinese=True)
    return None


def _token(match: re.Match[str]) -> _Token | None:
    parts = {name: value for name, value in match.groupdict().items() if value}
    chinese = "cn" in parts
    if "iso" in parts:
        day = _day(parts["iso"], parts.get("iso_month"), parts.get("iso_day"))
    elif chinese:
        day = _day(parts["cn"], parts.get("cn_month"), parts.get("cn_day"))
    elif "dmy" in parts:
        day = _day(parts["dmy_year"], str(_month(parts["dmy_month"])), parts["dmy"])
    elif "mdy" in parts:
        day = _day(parts["mdy_year"], str(_month(parts["mdy_month"])), parts["mdy"])
    elif "my_year" in parts:
        day = _day(parts["my_year"], str(_month(parts["my_month"])), None)
    else:
        day = parts["year"]
    if not day:
        return None
    decade = "decade" in parts or "decade_cn" in parts
    until = str(int(day) + 9) if decade and day.endswith("0") else day
    return _Token(day, until, match.start(), match.end(), bare="year" in parts and not decade, chinese=chinese)


def _month(name: str) -> int:
    return _MONTH_OF[name.rstrip(".").lower()]


def _day(year: str, month: str | None, day: str | None) -> str:
    """Return the date as YYYY[-MM[-DD]]; empty for a day that no month has."""
    written = "-".join([year, *(f"{_number(part):02}" for part in (month, day) if part)])
    try:
        date.fromisoformat(f"{written}-01-01"[:10])
    except ValueError:
        return ""
    return written


def _number(written: str) -> int:
    """Return the number below a hundred that is written in digits or in Chinese."""
    if written.isdecimal():
        return int(written)
    tens, ten, units = written.rpartition("十")
    return (10 * int((tens or "一").translate(_DIGITS)) if ten else 0) + int((units or "〇").translate(_DIGITS))


def _relative(text: str, said_on: str) -> Iterator[TimeSpan]:
    for match in _AGO.finditer(text):
        if match["ago"] or match["cn_n"]:
            written = (match["n"] or match["cn_n"]).lower()
            n = int(written) if written.isdigit() else _WORDS.get(written, 1)
            unit, by = (match["ago"] or "year").rstrip("s").lower(), -n
        else:
            unit, by = _SHIFTED[(match["word"] or match["which"] or match["cn"]).lower()]
        day = _shifted(said_on, unit or match["unit"].lower(), by)
        if day:
            yield TimeSpan(day, day, POINT, match.start(), match.end())


def _shifted(day: str, unit: str, by: int) -> str:
    """Return the year, month or day of the date, shifted by so many units; empty where the date lacks it."""
    year = int(day[:4])
    if unit == "year":
        return f"{year + by:04}"
    if unit == "month":
        if len(day) < 7:
            return ""
        months = year * 12 + int(day[5:7]) - 1 + by
        return f"{months // 12:04}-{months % 12 + 1:02}"
    return (date.fromisoformat(day) + timedelta(days=by)).isoformat() if len(day) == 10 else ""
