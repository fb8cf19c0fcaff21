// Shows the page once its first run has ended and everything of it is drawn, once it says that it is waiting for
// something, or five seconds after its frame is there. style.css hides it until then; its own five seconds, for a page
// without this script, begin anew whenever the sheet or the page's main part is put in again.
const RAN = '[data-test-script-state="notRunning"] [data-testid="stMain"] [data-testid="stElementContainer"]';
const WAITS = '[data-testid="stMain"] :is([data-testid="stSpinner"], [data-testid="stProgress"], .lr-writing)';
const NOT_THERE_YET = '[data-testid="stSkeleton"]';

function isDrawn() {
  const ran =
    document.querySelector(RAN) && !document.querySelector(NOT_THERE_YET) && document.fonts.status === "loaded";
  return ran || document.querySelector(WAITS);
}

const MOST_MILLISECONDS = 5000;
let framed = 0; // when the sidebar was first seen

function isLate() {
  if (!framed && document.querySelector('[data-testid="stSidebar"]')) framed = performance.now();
  return framed > 0 && performance.now() - framed > MOST_MILLISECONDS;
}

function look() {
  if (isDrawn() || isLate()) document.documentElement.classList.remove("lr-opening");
  else requestAnimationFrame(look);
}

look();
