"""Word lists of the English rules."""

_GENERIC = """
addition ah alas all amount answer any anybody anyone anything aspect ay aye back beginning bit bottom bye case chance
chapter couple course day degree dozen dr each effect eh end etc evening everybody everyone everything example extent
fact few figure first following form former front guy guys haha half halloo hand hello hey hi hmm hour idea inc
instance issue item kind latter line little lol lot madam majority manner many matter middle minute moment month more
morning most mr mrs ms much name nay need night no. nobody none note nothing number oh ok okay one ones order other
page pair paragraph part piece place please plenty point pp. purpose quantity question range reason regard respect
rest result sake same second section self sense series set several side sir some somebody someone something sort start
stuff such sum table term terms thank thanks thing third time times today tomorrow top total turn type use variety
various view vol. way week while word wow yeah year yes yesterday
"""
_LIGHT = """
ability accordance achievement act action addition advance advantage affair aim approach arrangement arrival attempt
awkwardness base basis beginning behalf benefit best brilliance bundle care cause certainty change choice circumstance
combination comparison completion conclusion conduct connection consequence consideration contact content context
continuation contrast contribution count danger deal decision delay delight departure description detail difference
difficulty direction disadvantage discussion disguise doubt downside effort ending enthusiasm episode essence event
exception excess excuse explanation extreme failure fall fault favor favour finding fraction framework fro front
future gap glance goal group guess handful heap help hint hope impact importance improvement inch increase
indifference initiative input intention invitation lack length level luck majority mark maximum meantime mention merit
minimum minority mistake mode mood necessity notion occasion occurrence offer opportunity opposite option origin
outcome output outset overlap overview past peak performance period permission perspective phase position possibility
practice preparation presence problem procedure process progress promise proportion proposal prospect quarter reach
reduction reference relation remains remark removal replacement reply request requirement return rise rising role row
run same scope setting shape shortage shout sight significance signing situation size source spot spread stage
standpoint start statement step stop study subject success surrounding task tendency tip tone top touch trend trouble
undertaking unit upside urge value variant variation version visit wait way weakness whole widening width willingness
wish word writing
"""
_UNITS = """
acre acres billion bytes celsius cent centimetre centimeter cents dollar fahrenheit feet foot gram gramme hectare inch
inches kilobyte kilogram kilometre kilometer kilowatt litre liter megabyte metre meter mile milligram millilitre
milliliter millimetre millimeter millisecond million ounce percent percentage pound thousand ton tonne trillion yard
"""
_LEADING = """
additional aforementioned all also another any big both certain countless current different each entire even every few
fewer first following former further general good great here high just large last latter least less little long low
main many mere more most much new next no numerous old only other overall own particular possible present previous
quite rather real recent said same second several sheer short small so-called some specific still subsequent such then
there third true usual various very whole
"""
_MAY_BELONG = "big general good great high large little long low main new old real short small true"
_RELATIVE = """
apparent available bad best better big broad careful chief classic clear complete complex considerable curious
customary earlier early easy enormous enough exact excellent existing extra faint famous fast favorite favourite final
full good great greater huge important increasing individual initial key known large later leading light likely little
lively main major minor modern modest near nearby neat neighboring neighbouring new nice obvious occasional old older
ordinary perfect popular practical precise pretty proper real reasonable remaining remarkable respectable resulting
separate serious significant similar simple single slight slow small strange substantial successful sufficient
suitable supreme tiny total typical unknown unusual usable useful usual vast wealthy welcome well-known wonderful
young younger
"""
_HONORIFICS = """
emperor empress king lady madame miss mrs mrs. ms ms. pope prince princess queen saint st.
"""
_RANKS = """
actor actress agent agents captain colonel congressman cousin dear director dr dr. general judge justice mr mr. old
poor president prof prof. professor senator singer sir uncle young
"""
_LEGAL_FORMS = "inc inc. llc l.l.c. corp corp. ltd ltd. plc co co. l.p. lp llp n.a. gmbh ag s.a. sa"
_HEADINGS = """
abstract, acknowledgements, acknowledgments, appendix, background, bibliography, conclusion, conclusions, contents,
discussion, document, example, examples, exercises, external links, footnotes, foreword, further reading, general,
glossary, home, index, introduction, methods, miscellaneous, notes, overview, page, preamble, preface, references,
results, see also, summary, table of contents, title, untitled
"""

# Denote nothing by themselves; with a noun before them ("body part") they may.
GENERIC = frozenset(_GENERIC.split())
# Abstract nouns and units that denote nothing alone; with a modifier that does not only evaluate they may.
LIGHT = frozenset(_LIGHT.split()) | frozenset(_UNITS.split())
# Nouns of quantity: after an evaluating word they say how much of something ("good share", "great mass").
QUANTITIES = frozenset(["amount", "body", "bulk", "mass", "part", "portion", "share", "sum"])
# Fall off the front of a phrase.
LEADING = frozenset(_LEADING.split())
# Of LEADING, those that may belong to a term ("long division", "new town").
MAY_BELONG = frozenset(_MAY_BELONG.split())
# Evaluate or compare; a phrase that begins with such a word is a term of its own only when the corpus repeats it.
RELATIVE = frozenset(_RELATIVE.split())
# Comparatives that belong to terms ("higher education", "nearest neighbour").
TERM_COMPARATIVES = frozenset(["higher", "least", "lower", "lowest", "nearest", "shortest", "upper"])
# Belong to the name: Mrs. Cratchit is not Mr. Cratchit.
HONORIFICS = frozenset(_HONORIFICS.split())
# Written before a person's name and no part of it.
RANKS = frozenset(_RANKS.split())
# Headings that say nothing about the text below them.
GENERIC_HEADINGS = frozenset(" ".join(_HEADINGS.split()).split(", "))
# End a company's name and are none by themselves.
LEGAL_FORMS = frozenset(_LEGAL_FORMS.split())
