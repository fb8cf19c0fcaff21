"""Model calls as an index keeps them: a table, one row a call."""

from collections.abc import Sequence

import pyarrow as pa

from leanrag_core.types.written_call import WrittenCall

# One row a call, in the order in which a build uses the replies, so that a row's number is the number of the call.
# Seconds are not here: they differ from build to build, and the store of calls has them.
CALL_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("kind", pa.string()),
        ("layer", pa.int32()),
        ("target", pa.string()),
        ("prompt_tokens", pa.int32()),
        ("completion_tokens", pa.int32()),
        ("cost", pa.float64()),
    ]
)


def calls_table(calls: Sequence[WrittenCall]) -> pa.Table | None:
    """Return the table that an index keeps; None when no model was called, so that such an index has no such file."""
    if not calls:
        return None
    columns = {
        "key": [written.call.key for written in calls],
        "kind": [written.kind for written in calls],
        "layer": [written.layer for written in calls],
        "target": [written.target for written in calls],
        "prompt_tokens": [written.call.usage.prompt_tokens for written in calls],
        "completion_tokens": [written.call.usage.completion_tokens for written in calls],
        "cost": [written.call.usage.cost for written in calls],
    }
    return pa.table(columns, schema=CALL_SCHEMA)
