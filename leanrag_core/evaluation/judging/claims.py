"""The claims of an answer, listed by a language model (GraphRAG, section 4.2)."""

import hashlib

from leanrag_core.errors import ReplyError
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.models.json_reply import read_json
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.types.calls import JsonSchema

TASK = "list_claims"
_KEY = "claims"
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {_KEY: {"type": "array", "items": {"type": "string"}}},
    "required": [_KEY],
    "additionalProperties": False,
}


def list_claims(answer: str, language: LanguageModel) -> tuple[str, ...]:
    """Ask the model for the answer's claims, once more where its reply cannot be read.

    Raises ReplyError where the second reply cannot be read either, BudgetSpent, EndpointError.
    """
    prompt = load_prompt(TASK)
    mark = f"TEXT-{hashlib.sha256(answer.encode()).hexdigest()[:12]}"
    messages = [{"role": "user", "content": prompt.fill(mark=mark, answer=answer)}]
    return ask(language, messages, _read, schema=_REPLY, task=prompt.fingerprint).value


def _read(completion: Completion) -> tuple[str, ...]:
    reply = read_json(completion.text, ((_KEY,),))
    listed = {str(key).strip().casefold(): value for key, value in reply.cells.items()}.get(_KEY)
    if completion.cut or reply.breaks_off:
        raise ReplyError("reply.broken_off")
    if not isinstance(listed, list):
        raise ReplyError("judge.reply_lacks", criteria=_KEY)
    return tuple(" ".join(claim.split()) for claim in listed if isinstance(claim, str) and claim.strip())
