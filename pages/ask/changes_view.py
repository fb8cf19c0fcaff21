"""What entered and left the retrieval since the settings changed, or compared with a pinned run of the question."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from leanrag_core.figures import numbers
from leanrag_core.figures.changes import Group, changes, telling_groups
from leanrag_core.figures.drawing import isolated
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.trace import Trace
from pages.ask import asking, roles
from pages.common import buttons, forms, markup
from pages.common.html import html, joined
from pages.common.messages import as_capital, language, say, say_or, words
from pages.common.scope import Scope

_LISTED = 4  # most names listed per role


def panel(scope: Scope, before: Trace | None, after: Trace, *, pinned: bool = False) -> None:
    """Draw what entered and left since the settings changed. pinned: `before` is the pinned run."""
    if before is None:
        return
    changed = changes(before, after, language())
    settings = [
        say("ask.setting_changed", setting=forms.title_of(name), before=_value(name, old), after=_value(name, new))
        for name, (old, new) in changed.settings.items()
    ]
    with st.container(border=True, key=scope.name("changes")):
        nothing = html('<div class="lr-small">{}</div>', say("ask.same_retrieved"))
        body = _differences(after, telling_groups(before, after, language())) if changed.any else nothing
        title = say("ask.what_changed_pinned" if pinned else "ask.what_changed")
        markup.block(title, body, say("text.semicolon").join([*settings, tokens_words(changed.tokens)]))


def tokens_words(more: int) -> str:
    """Return in words how many tokens more or less the context has."""
    return say("ask.tokens_changed", tokens=numbers.signed(more)) if more else say("ask.same_tokens")


def _value(name: str, value: object) -> str:
    """Return the value of a setting in words; a strategy by its title."""
    titles = {info.name: info.title for info in strategies().strategies}
    return words(titles[value]) if name == "strategy" and value in titles else forms.shown(name, value)


def _differences(trace: Trace, groups: Sequence[Group]) -> Markup:
    """Return what entered, with a plus, and what left, struck through, with a minus."""
    lines = []
    for group in groups:
        for sign, all_names in (("in", group.entered), ("out", group.left)):
            names = list(dict.fromkeys(all_names))  # several passages or points may share a name
            if names:
                title = role_title(trace, group.role, len(names))
                line = say("text.titled", title=title, text=listed(names, _LISTED))
                lines.append(html('<div class="{}"><span>{}</span></div>', sign, line))
    return html('<div class="lr-diff">{}</div>', joined(lines))


def listed(names: Sequence[str], most: int) -> str:
    """Return the first of the names, each once, and how many more there are."""
    distinct = list(dict.fromkeys(names))
    more = say("change.more", n=len(distinct) - most) if len(distinct) > most else ""
    return say("text.semicolon").join(map(isolated, distinct[:most])) + more


def role_title(trace: Trace, role: str, n: int) -> str:
    """Return the title of a role of items or relations; n: how many there are."""
    return say_or(as_capital(roles.role_title(trace, role)), f"change.{roles.code_part(role)}", n=n)


@dataclass(frozen=True)
class _Pinned:
    topic: tuple[str, str]  # index, question
    trace: Trace


def pinned_trace(scope: Scope, ask: asking.Ask) -> Trace | None:
    """Return the pinned retrieval of this question from this index, if any."""
    pinned: _Pinned | None = st.session_state.get(scope.key("pinned"))
    return pinned.trace if pinned is not None and pinned.topic == _topic(ask) else None


def pin_button(scope: Scope, ask: asking.Ask, trace: Trace) -> None:
    """Draw the button that pins the retrieval on the page, or unpins it."""
    key, hint = scope.name("pin"), say("ask.pin_hint")
    if pinned_trace(scope, ask) is None:
        buttons.tertiary(say("ask.pin"), "keep", key, _keep, scope, _Pinned(_topic(ask), trace), help=hint)
    else:
        buttons.tertiary(say("ask.unpin"), "keep_off", key, _keep, scope, None, help=hint)


def _keep(scope: Scope, pinned: _Pinned | None) -> None:
    st.session_state[scope.key("pinned")] = pinned


def _topic(ask: asking.Ask) -> tuple[str, str]:
    return ask.summary.id, ask.question
