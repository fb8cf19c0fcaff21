"""What is left of the messages that are still to be sent when a fragment's run begins."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pages.common import server


def drawn(fragment: str, path: list[int], *, block: bool = False) -> ForwardMsg:
    made = ForwardMsg()
    made.metadata.delta_path[:] = path
    made.delta.fragment_id = fragment
    if block:
        made.delta.add_block.allow_empty = True
    else:
        made.delta.new_element.html.body = f"by {fragment}"
    return made


def test_an_element_of_a_drawer_is_never_sent_without_the_drawer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # put back after the test
    server.keep_for_fragments()
    queue = ForwardMsgQueue()
    drawer, text = drawn("page", [2, 0], block=True), drawn("drawer", [2, 0, 0])
    queue.enqueue(drawer)
    queue.enqueue(text)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["page"])
    again = drawn("page", [2, 0, 0])
    queue.enqueue(again)
    assert queue.flush() == [drawer, text, again]
    queue.enqueue(drawer)
    queue.clear(retain_lifecycle_msgs=True)  # a run of the whole page draws everything anew
    assert queue.is_empty()
