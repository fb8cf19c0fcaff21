"""Text of an XML element whose parser expands no entities, as safe ones do."""

from html import unescape
from typing import Any

_LONGEST = 100  # characters of an entity's meaning


def own_text(element: Any) -> str:
    """Return the element's text, that behind comments and entities too.

    The parser leaves an entity as a node in the text. It becomes what the file says that it means, where that is short
    and names no further entity, or what it means in HTML, such as &nbsp;; else it is left out.
    """
    parts = [element.text or ""]
    for child in element:
        if not isinstance(child.tag, str):  # a comment, an instruction or an entity
            if (child.text or "").startswith("&"):
                parts.append(_meaning(child))
            parts.append(child.tail or "")
    return "".join(parts)


def _meaning(entity: Any) -> str:
    declared = entity.getroottree().docinfo.internalDTD
    for known in declared.iterentities() if declared is not None else ():
        if f"&{known.name};" == entity.text:
            content = known.content or ""
            return content if len(content) <= _LONGEST and "&" not in content and "<" not in content else ""
    meant = unescape(entity.text)
    return "" if meant == entity.text else meant
