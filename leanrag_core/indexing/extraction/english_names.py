"""Words that tell of what kind a name is: given names, and the nouns that end or begin names."""

_GIVEN = """
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
"""
_ORGANIZATION = """
academy administration agency airlines airways alliance army assembly associates association authority bank board
brothers bureau cabinet cathedral church club college commission committee companies company conservatory consortium
cooperative corporation corps council court department enterprises faculty federation forum foundation fund gallery
gazette group guild herald holdings hospital inc industries institute institution instruments journal laboratories
laboratory labs league legion library ltd magazine ministry museum navy news newspaper observatory office orchestra
organisation organization parliament partners partnership press records regiment school securities seminary senate
services society studios synagogue systems team theater theatre times trust union university works
"""
_LOCATION = """
airport alley alps archipelago avenue basin bay beach bridge building canal canyon cape castle cemetery city coast
county crags creek desert district drive falls field fields forest garden gardens gate glacier gulf harbor harbour
heights highway hill hills hotel house island islands isle isles lake lane mile mountain mountains ocean palace park
peninsula plain plains plateau plaza port prison province quarter region republic ridge river road sea square station
strait street territory tower town valley village volcano wall
"""
_LAW = """
act agreement amendment article articles bill charter clause code constitution convention decree directive guaranty
indenture law laws lease ordinance policy regulation resolution rule schedule section sections statute treaty
"""
_EVENT = """
battle championship championships conference crusade cup election elections expedition festival games massacre
olympics revolution siege tournament uprising war wars
"""
_PERSON = "captain countess duke earl emperor empress king lord pope prince princess queen saint sultan tsar"
_CONCEPT = """
account algorithm analysis award bound cap coefficient collateral commitment commitments contribution date day default
defaults diagram disease distribution document documents ebitda effect engine entropy equation event events factor
filter formula function headroom hive indebtedness index interest keepwell lien liens loan loans machine margin matrix
measure medal method metric model motion network obligation obligations parties period plot prize problem rate ratio
relativity reserve score securities setoff sketch standstill subsidiaries subsidiary supplement swarm syndrome term
test theorem theory transaction transactions tree waiver walk week
"""
_METHOD = """
algorithm clustering factorisation factorization heuristic k-means method regression sampling technique
"""
_HUMAN_VERBS = """
admire argue arrive ask bear believe bring confess dedicate die dream flee graduate laugh learn lecture live love
marry persuade pray quarrel read remark remember retire return say speak study suffer teach tell think travel walk
wonder work write
"""
_PARTICLES = "af al bin d' da de dei del della den der di dos du el et ibn la le les of ten ter van von y zu zur"

GIVEN = frozenset(_GIVEN.split())
ORGANIZATION_NOUNS = frozenset(_ORGANIZATION.split())
LOCATION_NOUNS = frozenset(_LOCATION.split())
LAW_NOUNS = frozenset(_LAW.split())
EVENT_NOUNS = frozenset(_EVENT.split())
PERSON_NOUNS = frozenset(_PERSON.split())
# What a name in capitals is that ends so: a defined term, a quantity, a thing.
CONCEPT_NOUNS = frozenset(_CONCEPT.split())
# A noun phrase whose last word is here is a way to do something.
METHOD_NOUNS = frozenset(_METHOD.split())
# What a person does, and an institution or a place hardly ever.
HUMAN_VERBS = frozenset(_HUMAN_VERBS.split())
# Written small inside a person's name.
PARTICLES = frozenset(_PARTICLES.split())
