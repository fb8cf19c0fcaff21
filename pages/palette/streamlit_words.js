// Streamlit's own words, which are English, in the language of the page: menus of tables and lists, its dialogs, and what
// it says to readers aloud. They are replaced as they appear; texts of documents are never looked at.
const PLACES_OF_WORDS = [
  "[data-testid=stSkipToContent]",
  "[data-testid^=stDataFrameColumn]",
  "[data-testid^=stDataFrameStatistics]",
  "[data-testid^=stDataFrameFormatting]",
  ".gdg-search-bar",
  "[role=listbox][data-empty]",
  "[data-testid=stDialog] section > h2",
  "[data-testid=stDialog] section > h2 + div > div",
].join();
const NAMED_BY_STREAMLIT =
  ":is(button,a,section,nav,input,[role=group],[role=listbox],[role=dialog]):is([aria-label],[placeholder])";
const NOT_OF_STREAMLIT = "[data-testid^=stBidiComponent],[data-testid=stHtml]";
const ATTRIBUTES_OF_WORDS = ["aria-label", "title", "placeholder"];
const LOOKS_AGAIN = 50; // milliseconds

const streamlitWords = { language: "", words: new Map(), timer: 0 };

// Says Streamlit's words in that language from now on. words: what takes the place of each of them; none in English.
function sayStreamlit(language, words) {
  const said = streamlitWords;
  if (said.language === language) return;
  if (!said.language)
    new MutationObserver(() => {
      said.timer ||= setTimeout(() => {
        said.timer = 0;
        replaceWords(said.words);
      }, LOOKS_AGAIN);
    }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["aria-label"] });
  replaceWords(new Map([...said.words].map(([english, word]) => [word, english])));
  Object.assign(said, { language, words: new Map(Object.entries(words)) });
  replaceWords(said.words);
}

function replaceWords(words) {
  if (!words.size) return;
  for (const place of document.querySelectorAll(PLACES_OF_WORDS)) {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const word = words.get(texts.currentNode.nodeValue);
      if (word) texts.currentNode.nodeValue = word;
    }
  }
  for (const named of document.querySelectorAll(NAMED_BY_STREAMLIT)) {
    if (named.closest(NOT_OF_STREAMLIT)) continue;
    for (const attribute of ATTRIBUTES_OF_WORDS) {
      const word = words.get(named.getAttribute(attribute));
      if (word) named.setAttribute(attribute, word);
    }
  }
}
