// Shows the page once its first run has ended and everything of it is drawn, or once it says that it is waiting for
// something. style.css hides it until then.
const RAN = '[data-test-script-state="notRunning"] [data-testid="stMain"] [data-testid="stElementContainer"]';
const WAITS = '[data-testid="stMain"] :is([data-testid="stSpinner"], [data-testid="stProgress"], .lr-writing)';
const NOT_THERE_YET = '[data-testid="stSkeleton"]';

function isDrawn() {
  const ran =
    document.querySelector(RAN) && !document.querySelector(NOT_THERE_YET) && document.fonts.status === "loaded";
  return ran || document.querySelector(WAITS);
}

function look() {
  if (isDrawn()) document.documentElement.classList.remove("lr-opening");
  else requestAnimationFrame(look);
}

look();
