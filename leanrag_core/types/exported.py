"""What an export wrote."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Exported:
    """A file that was exported. replaced: characters that the format cannot hold, each replaced by U+FFFD."""

    path: Path
    format: str
    entities: int
    relations: int
    parent_links: int
    replaced: int
    bytes: int
