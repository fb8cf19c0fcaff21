"""What reading a file may take. A file that needs more is skipped and reported; the others are read."""

from dataclasses import dataclass

from leanrag_core.messages.message import Message, message
from leanrag_core.types.settings import Settings

_OF_AN_ARCHIVE = 10  # times as long as one file
_XML_NO_MEMORY = 2  # XML_ERR_NO_MEMORY of libxml2


@dataclass(frozen=True)
class ParseLimits:
    """Of one file, or of each file in an archive.

    seconds: by the clock. archive_seconds: for all files of an archive. output_mb: of the text that comes out.
    """

    seconds: float = 60.0
    archive_seconds: float = 600.0
    memory_mb: int = 1500
    output_mb: int = 256

    @property
    def memory_bytes(self) -> int:
        """Memory that the reading process may take."""
        return self.memory_mb * 1024 * 1024

    @property
    def output_bytes(self) -> int:
        """Of text in UTF-8, and of what is said about it."""
        return self.output_mb * 1024 * 1024

    def too_long(self) -> Message:
        """Return why a file was passed over that took too much time."""
        return message("file.took_too_long", seconds=self.seconds)

    def archive_too_long(self) -> Message:
        """Return why the rest of an archive was passed over."""
        return message("file.archive_took_too_long", seconds=self.archive_seconds)

    def too_much_memory(self) -> Message:
        """Return why a file was passed over that needs too much memory."""
        return message("file.needs_too_much_memory", limit=self.memory_mb)

    def too_much_text(self) -> Message:
        """Return why a file was passed over whose text is too long."""
        return message("file.too_much_text", limit=self.output_mb)


def parse_limits(settings: Settings) -> ParseLimits:
    """Return the limits that the settings name."""
    seconds = settings.parse_seconds
    return ParseLimits(seconds, _OF_AN_ARCHIVE * seconds, settings.parse_memory_mb, settings.parse_output_mb)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a library failed since it got no more memory; lxml reports that as a syntax error."""
    return isinstance(error, MemoryError) or getattr(error, "code", None) == _XML_NO_MEMORY


def limit_memory(max_bytes: int) -> None:
    """Limit this process's memory where the system has such a limit; elsewhere only its parent process watches it."""
    try:
        import resource
    except ImportError:
        return
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (max_bytes, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    except (ValueError, OSError):
        return
