"""The largest resident memory of this process, and a fresh start for it once the input is ready."""

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def peak_gb() -> float:
    """Return the peak resident set, in GB (10^9 bytes), of this process or of the largest child it has waited for.

    On Linux the kernel's high-water mark of the process itself is read, because ru_maxrss of a child starts with what
    its parent held before the new program was loaded.
    """
    own = _high_water_bytes()
    if own is None:
        own = _bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return max(own, _bytes(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)) / 1e9


def reset_peak() -> bool:
    """Reset the peak; call it after the input is made. False where the system cannot do it."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _high_water_bytes() -> int | None:
    if not _STATUS.is_file():
        return None
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None


def _bytes(maxrss: int) -> int:
    return maxrss if sys.platform == "darwin" else maxrss * 1024
