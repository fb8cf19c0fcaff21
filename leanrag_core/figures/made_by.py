"""What made a thing, in a sentence: the model call that wrote it, or the rule."""

from leanrag_core.figures import numbers
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.types.calls import CallRecord, MadeBy, RecordedCall
from leanrag_core.types.config import BUILTIN, model_title


def made_sentence(made: MadeBy) -> Message:
    """Return the rule, or whose words they are."""
    engine = (
        message("made.builtin") if made.engine in ("", BUILTIN) else message("plain", text=model_title(made.engine))
    )
    if made.how == "joined" and made.tau is not None:
        return message("made.joined", n=made.sources, strength=made.strength, tau=f"{made.tau:g}")
    code = {
        "joined": "made.joined_without_tau",
        "imported": "made.imported" if made.engine else "made.imported_unnamed",
    }
    return message(
        code.get(made.how, f"made.{made.how}"),
        n=made.sources,
        strength=made.strength,
        engine=engine,
        calls=len(made.calls),
    )


def call_sentence(call: RecordedCall, record: CallRecord | None) -> Message:
    """Return number, model and cost of a call. record: what the store has of it, for its seconds."""
    cost = message("plain", text=numbers.money(call.cost)) if call.cost else message("made.no_price")
    values: dict[str, Value] = {
        "model": model_title(call.model),
        "number": call.number,
        "total": call.total,
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "cost": cost,
    }
    if record is None or record.seconds is None:
        return message("made.call_not_stored", **values)
    return message("made.call", **values, seconds=numbers.duration(record.seconds))
