"""What is still to be sent to a browser when a run of a fragment begins: all of it."""

from streamlit.runtime.forward_msg_queue import ForwardMsgQueue


def keep_for_fragments() -> None:
    """From now on a fragment's run drops no message of the runs before it.

    Streamlit drops those of the same fragment, but not those of a fragment or dialog inside it: their elements would
    arrive without the block that they stand in, and the browser would remove the whole page ("Cannot set a node at a
    delta path"). What is not dropped is drawn over.
    """
    clear = ForwardMsgQueue.clear

    def clear_for_page(
        self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if fragment_ids_this_run is None:
            clear(self, retain_lifecycle_msgs)
        else:
            self._delta_index_map = {}  # nothing of this run takes the place of a message before it

    setattr(ForwardMsgQueue, "clear", clear_for_page)  # noqa: B010 - mypy lets no method be assigned
