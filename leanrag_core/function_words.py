"""English words that say nothing about the subject of a text: articles, pronouns, prepositions, auxiliary verbs."""

_WORDS = """
a about according also an and any are as at be been between both but by can could did do does during each for from had
has have how i if in into is it its many may me more most much must no not of on or other our over say says shall
should so some than that the their them then there these they this those through to under up upon was we were what
when where which while who whom whose why will with would you your
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
