"""The answer's marks, drawn by their script alone."""

from collections.abc import Callable

import pytest

from leanrag_core.figures.scripts import script_path
from tests.browser.conftest import PROJECT, Watched

pytestmark = pytest.mark.browser

FOLDER = PROJECT / "pages" / "ask"
SENTENCE = "灰岸的灯塔由阿达在一八七四年建造，当时的渔民要求在马拉姆角设立一座能够在浓雾中为返航船只指引方向的灯塔。"
DRAW = """async ([script, text]) => {
  const { default: draw } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const mark = (name) => ({ name, title: name, colour: "seed", section: "seeds", quote: [] });
  const marks = [...Array(14).keys()].map((place) => mark(`R${place}`));
  globalThis.cited = [];
  globalThis.draw = () => draw({
    data: { parts: [{ text, marks }], items: [], labels: { more: "{n}" }, open: "", list: false },
    parentElement: document.body,
    setTriggerValue: (name, value) => cited.push(value),
  });
  globalThis.draw();
}"""


@pytest.mark.parametrize("text", [SENTENCE, "The lighthouse was built by Ada Thornbury in 1874.", "Responsibilities"])
def test_a_sentence_with_many_marks_wraps_and_each_opens_after_the_answer_is_drawn_again(
    watch: Callable[..., Watched], text: str
) -> None:
    page = watch().page
    page.set_content(
        f"<style>{(FOLDER / 'citations.css').read_text(encoding='utf-8')}</style>"
        '<div style="width:250px"><div class="lr-cites"><div class="lr-answer"></div><div class="lr-evidence"></div>'
        '<div class="lr-tip" hidden></div></div></div>'
    )
    common = PROJECT / "pages" / "common"
    scripts = (script_path("svg"), common / "elements.js", common / "marks.js", FOLDER / "citations.js")
    page.evaluate(DRAW, ["\n".join(path.read_text(encoding="utf-8") for path in scripts), text])
    assert page.locator(".lr-answer").evaluate("answer => answer.scrollWidth <= answer.clientWidth")
    assert "".join(page.locator(".lr-answer .said").all_text_contents()) == text
    page.locator(".chip").nth(0).click()
    page.evaluate("draw()")
    page.locator(".chip").nth(1).click()
    page.evaluate("draw()")
    page.locator(".chip").nth(13).click()
    assert page.evaluate("cited") == ["R0", "R1", "R13"]
