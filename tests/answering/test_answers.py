from dataclasses import replace

import numpy as np
import pytest

from leanrag_core.answering.extractive import NOTHING_FITS, extractive_answer
from leanrag_core.answering.record import ask_record
from leanrag_core.answering.written import ANSWER, NOT_IN_CONTEXT, TASK_OF_MODE, write_answer
from leanrag_core.evaluation.answers import declines
from leanrag_core.models.base import Completion
from leanrag_core.models.minilm import MiniLM
from leanrag_core.retrieval.base import Query, strategy
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.calls import Usage
from leanrag_core.types.experiment import ASKED, MODES, OPEN, REJECT
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from tests.answering.contexts import trace_of_passages
from tests.retrieval.tools import TOOLS
from tests.small_index import unit


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM(threads=1)


def trace_of(index: Index, question: str) -> Trace:
    query = Query(question, unit([[1, 1, 1, 1]])[0])
    return strategy("leanrag", {"top_n": 6, "top_c": 4}).retrieve(query, index, TOOLS)


def answer(index: Index, model: MiniLM, question: str):
    trace = trace_of(index, question)
    return extractive_answer(trace, model.embed, model.embed([question])[0])


def test_the_sentence_that_answers_is_cited_to_its_chunk(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "What keeps beetles away?")
    assert made.parts[0].text == "The seed coat keeps beetles away."
    chunk_mark = made.parts[0].marks[0]
    items = {item.mark: item for item in made.trace.context.section("chunks").items}
    assert "seed coat keeps beetles" in items[chunk_mark].text
    assert made.grounded
    assert made.extractive


def test_a_question_about_something_else_is_not_answered(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "Who won the football world cup in 1954?")
    assert not made.grounded
    assert made.citations == ()
    assert made.text.startswith("Nothing in the context answers this.")


def test_sentences_end_where_a_reader_would_end_them() -> None:
    text = "Dr. A. Smith, e.g. of Leeds, saw bees. They danced!  (Some slept.) Was it cold?\n\nYes"
    assert split_sentences(text) == [
        "Dr. A. Smith, e.g. of Leeds, saw bees.",
        "They danced!",
        "(Some slept.)",
        "Was it cold?",
        "Yes",
    ]


class ScriptedModel:
    name = "scripted"
    fingerprint = "scripted:1"

    def __init__(self, reply: str, finish_reason: str = "stop") -> None:
        self.reply, self.finish_reason, self.prompts = reply, finish_reason, list[str]()

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        self.prompts.append(messages[-1]["content"])
        return Completion(self.reply, self.finish_reason, Usage(calls=1, prompt_tokens=7))


def test_a_written_answer_keeps_only_marks_that_the_context_has(index: Index) -> None:
    trace = trace_of(index, "What do bees make?")
    language = ScriptedModel("Bees make honey [C1][E2]. They fly to Mars [C99].")
    made = write_answer(trace, language)
    assert [(part.text, part.marks) for part in made.parts] == [
        ("Bees make honey.", ("C1", "E2")),
        ("They fly to Mars.", ()),
    ]
    assert made.usage.prompt_tokens == 7
    assert trace.context.text in language.prompts[0]
    assert "What do bees make?" in language.prompts[0]


def test_each_mode_of_an_experiment_has_its_own_prompt(index: Index) -> None:
    trace = trace_of(index, "What do bees make?")
    asked = {}
    for mode in MODES:
        language = ScriptedModel(f"{NOT_IN_CONTEXT}: no honey is named.")
        declined = write_answer(trace, language, task=TASK_OF_MODE.get(mode, ANSWER))
        asked[mode] = language.prompts[0]
        assert (declined.grounded, declines(declined.text)) == (False, True)
    assert len(set(asked.values())) == len(MODES)
    assert "from the context below, and from nothing else" in asked[ASKED]
    assert "use what you know yourself" in asked[OPEN]
    assert f"begin your reply with {NOT_IN_CONTEXT}" in " ".join(asked[REJECT].split())
    assert all(trace.context.text in prompt for prompt in asked.values())


def test_an_answer_that_was_cut_says_so(index: Index) -> None:
    language = ScriptedModel("Bees make honey [C1]. They fly to", finish_reason="length")
    made = write_answer(trace_of(index, "What do bees make?"), language)
    assert made.parts[-1].text == "(Cut at the token limit: raise the longest reply in Settings.)"
    assert made.text.startswith("Bees make honey. [C1] They fly to (Cut")


def test_the_record_has_the_fields_that_the_command_line_promises(index: Index, model: MiniLM) -> None:
    made = answer(index, model, "What keeps beetles away?")
    record = ask_record(made.trace, made)
    assert set(record) >= {"question", "strategy", "parameters", "seeds", "lca", "nodes", "relations", "chunks"}
    assert set(record["context"]["tokens"]) == {"total", "entities", "aggregated", "relations", "chunks"}
    assert record["lca"] == {"id": "id-farm", "name": "farm", "layer": 2}
    assert record["answer"]["citations"] == list(made.citations)
    assert np.isfinite(record["timings_ms"]["total"])


BRIDGE = "The mite and the seed coat were studied by one professor in Uppsala."


def with_bridge(index: Index, description: str) -> Index:
    """Return the index whose relation between bees and fields has this description."""
    middle = index.layers[1]
    rows = [row | {"description": description} for row in middle.relations.to_pylist()]
    relations = type(middle.relations).from_pylist(rows, schema=middle.relations.schema)
    return replace(index, layers=(index.layers[0], replace(middle, relations=relations), index.layers[2]))


def answer_with(index: Index, model: MiniLM, question: str, **options: object) -> Answer:
    made = strategy("leanrag", {"top_n": 6, "top_c": 4, **options})
    trace = made.retrieve(Query(question, unit([[1, 1, 1, 1]])[0]), index, TOOLS)
    return extractive_answer(trace, model.embed, model.embed([question])[0])


def test_switching_relations_off_changes_an_answer_that_used_them(index: Index, model: MiniLM) -> None:
    question = "Which professor in Uppsala studied the mite and the seed coat?"
    bridged = with_bridge(index, BRIDGE)
    on, off = (answer_with(bridged, model, question, inter_cluster=wanted) for wanted in (True, False))
    [part] = [part for part in on.parts if part.section == "relations"]
    assert part.text == BRIDGE
    assert part.marks[0] == "R1"
    assert BRIDGE not in off.text
    assert {part.section for part in off.parts} <= {"chunks", "entities", ""}
    assert ask_record(on.trace, on)["answer"]["parts"][-1]["section"] == "relations"


def test_a_sentence_of_a_chunk_goes_before_the_same_words_elsewhere(index: Index, model: MiniLM) -> None:
    sentence = "The seed coat keeps beetles away."
    for description in (sentence, f"fields protect bees: {sentence}"):
        made = answer_with(with_bridge(index, description), model, "What keeps beetles away?")
        assert [part.text for part in made.parts].count(sentence) == 1
        assert made.parts[0].text == sentence
        assert made.parts[0].section == "chunks"
        assert all(part.section != "relations" for part in made.parts)


def test_how_many_relations_join_two_groups_is_no_answer(index: Index, model: MiniLM) -> None:
    counted = "“bees” and “fields” are joined by 2 relations: 2 verb (such as “keep”)."
    made = answer_with(with_bridge(index, counted), model, "How are bees and fields joined by relations?")
    assert "joined by 2" not in made.text


def test_without_chunks_other_sections_answer_and_say_so(index: Index, model: MiniLM) -> None:
    made = answer_with(
        with_bridge(index, BRIDGE), model, "Who studied the mite and the seed coat?", source_chunks=False
    )
    assert made.grounded
    assert made.parts[0].text == BRIDGE
    assert made.parts[0].section == "relations"


def test_what_was_trimmed_out_of_the_context_is_not_quoted(index: Index, model: MiniLM) -> None:
    question = "What keeps beetles away?"
    document = index.documents.to_pylist()
    long = "Bees fly far and come home in the evening to rest in the hive. " * 30 + "The seed coat keeps beetles away."
    document[1]["text"] = long
    chunks = index.chunks.to_pylist()
    chunks[3] |= {"start": 0, "end": len(long)}
    changed = replace(
        index,
        documents=type(index.documents).from_pylist(document, schema=index.documents.schema),
        chunks=type(index.chunks).from_pylist(chunks, schema=index.chunks.schema),
    )
    short = answer_with(changed, model, question, chunk_tokens=200)
    assert "beetles" in answer_with(changed, model, question).text
    assert "beetles" not in "".join(part.text for part in short.parts if part.section == "chunks")


def asked_of(model: MiniLM, question: str, *passages: str) -> Answer:
    trace = trace_of_passages(question, passages)
    return extractive_answer(trace, model.embed, model.embed([question])[0])


def test_the_end_of_a_sentence_that_begins_in_another_chunk_is_left_out(model: MiniLM) -> None:
    fragment = ", but their eggs are unfertilised and give only drones. Queens lay eggs in the cells of the comb."
    made = asked_of(model, "What eggs do workers lay?", fragment, "Workers lay unfertilised eggs in the comb.")
    assert "Workers lay unfertilised eggs in the comb." in made.text
    assert "but their eggs" not in made.text


def test_a_sentence_is_whole_where_it_goes_on_behind_a_quotation(model: MiniLM) -> None:
    passage = "The flame leaped up, as though it cried, 'I know him! Marley's Ghost!' and fell again. Wax is light."
    made = asked_of(model, "What did the flame cry of Marley's Ghost?", passage)
    assert "The flame leaped up, as though it cried, 'I know him! Marley's Ghost!' and fell again." in made.text
    fragment = "Marley's Ghost!' and fell again. The flame cried of the ghost of Marley that it knew him."
    made = asked_of(model, "What did the flame cry of Marley's Ghost?", fragment)
    assert "The flame cried of the ghost of Marley that it knew him." in made.text
    assert "fell again" not in made.text


def test_a_sentence_that_begins_with_a_pronoun_brings_the_one_before_it(model: MiniLM) -> None:
    text = "Drones are the males of the hive. They develop from unfertilised eggs. The comb is made of wax by workers."
    made = asked_of(model, "From what eggs do drones develop?", text)
    parts = [part.text for part in made.parts]
    place = parts.index("They develop from unfertilised eggs.")
    assert parts[place - 1] == "Drones are the males of the hive."


def test_a_pronoun_at_the_start_of_a_passage_points_to_nothing_and_is_left_out(model: MiniLM) -> None:
    made = asked_of(
        model,
        "From what eggs do drones develop?",
        "They develop from unfertilised eggs. Wax is made by workers.",
        "Drones develop from unfertilised eggs that the queen lays.",
    )
    assert "They develop" not in made.text
    assert made.parts[0].text == "Drones develop from unfertilised eggs that the queen lays."


def test_a_phrase_that_points_back_brings_the_sentence_before_it(model: MiniLM) -> None:
    passage = "The mite's first host is the eastern honey bee. In that host it breeds in drone cells alone."
    made = asked_of(model, "In which cells does the mite breed in its host?", passage)
    assert [part.text for part in made.parts] == [
        "The mite's first host is the eastern honey bee.",
        "In that host it breeds in drone cells alone.",
    ]


def test_a_sentence_is_not_chosen_for_the_words_that_stand_before_it(model: MiniLM) -> None:
    passage = (
        "The season calendar speaks of Varroa mites in spring. Put a frame of drone brood beside the nest."
        " Look for eggs and for other signs of a good queen."
    )
    made = asked_of(model, "How does the season calendar use drone brood against Varroa mites in spring?", passage)
    assert [part.text for part in made.parts] == split_sentences(passage)[:2]


def test_what_is_measured_may_be_named_in_the_sentence_before_the_number(model: MiniLM) -> None:
    passage = (
        "A solution of oxalic acid in sugar syrup is dribbled onto the bees in each occupied seam."
        " The usual amount is about five millilitres for each seam that is full of bees."
    )
    made = asked_of(model, "How much oxalic acid solution is trickled on each occupied seam of bees?", passage)
    assert made.parts[0].text == "The usual amount is about five millilitres for each seam that is full of bees."


def test_a_word_meets_its_past_form(model: MiniLM) -> None:
    passages = (
        "The prince offered Spinoza a chair, to teach law at Heidelberg.",
        "He wrote to it that Spinoza declined, because he feared for his freedom.",
    )
    made = asked_of(model, "Why did Spinoza decline the chair at Heidelberg?", " ".join(passages))
    assert passages[1] in [part.text for part in made.parts]


def test_each_part_of_a_question_is_served(model: MiniLM) -> None:
    made = asked_of(
        model,
        "Who built the mill at Orley, and which bridge did the villages pay for?",
        "The mill at Orley was built by Hanna Voss. The mill at Orley was built of oak. The mill at Orley had two "
        "wheels. The mill at Orley was built for nine villages. Rye was ground in the mill at Orley.",
        "Far from there the villages paid for the bridge of Aldham.",
    )
    assert "The mill at Orley was built by Hanna Voss." in made.text
    assert "bridge of Aldham" in made.text


def test_a_question_that_the_topic_does_not_answer_is_declined_with_the_nearest_passages(model: MiniLM) -> None:
    made = asked_of(
        model,
        "What salary did Hanna Voss receive at the mill of Orley?",
        "Hanna Voss worked at the mill of Orley for nine years. She liked it.",
        "The mill of Orley stood beside the river, as Hanna Voss wrote.",
    )
    assert not made.grounded
    assert declines(made.text)
    assert [part.marks for part in made.nearest_parts] == [("C1",), ("C2",)]
    assert made.nearest == made.nearest_parts[0].text
    assert [near["marks"] for near in ask_record(made.trace, made)["answer"]["nearest"]] == [["C1"], ["C2"]]


def test_a_question_in_another_language_is_declined_for_that_reason(model: MiniLM) -> None:
    german = "Wie viele Eier legt die Königin an einem Tag im Sommer, und warum schwärmen die Völker?"
    made = asked_of(model, german, "The queen lays two thousand eggs a day in summer. The colonies swarm in May.")
    assert not made.grounded
    assert declines(made.text)
    assert "seems to be in German, the documents are in English" in made.text
    assert made.because is not None
    english = asked_of(model, "Who won the football world cup in 1954?", "Bees make honey from the nectar of flowers.")
    assert not english.grounded
    assert english.because is None


MIXED = {"de": 500, "ar": 480, "he": 300, "und": 900, "fr": 20}


@pytest.mark.parametrize(
    ("documents", "knows_languages", "said"),
    [
        (MIXED, False, "documents are in German, Arabic and Hebrew. Ask"),
        (MIXED, True, "documents are in German, Arabic and Hebrew. The nearest"),
        ({"de": 500, "en": 20}, False, "documents are in German. Ask"),
        ({"de": 500, "en": 400}, False, ""),
        ({"de": 500, "en": 400}, True, "documents are in German and English. The nearest"),
        ({"de": 20, "en": 400}, True, "documents are in English and German. The nearest"),
        ({"und": 900}, False, "documents are in German. Ask"),
    ],
)
def test_the_reason_names_the_languages_of_all_documents_not_of_the_passages_alone(
    model: MiniLM, documents: dict[str, int], knows_languages: bool, said: str
) -> None:
    question = "How many eggs does the queen of the bees lay on a day in summer?"
    german = "Die Königin der Bienen legt im Sommer zweitausend Eier an einem Tag. Im Mai schwärmen die Völker."
    made = extractive_answer(
        trace_of_passages(question, [german]),
        model.embed,
        model.embed([question])[0],
        knows_languages=knows_languages,
        languages=lambda: documents,
    )
    assert not made.grounded
    assert (made.because is None) == (not said)
    assert said in made.text
    assert (NOTHING_FITS in made.text) == (not knows_languages)


OWN = "Oxalic acid is given to the colony in winter by syringe."
OF_ENTITY = "Oxalic acid of the winter is a colony treatment."


def sentences_of_answer(cosine: dict[str, float], *, described: bool) -> list[str]:
    """Return the sentences of an answer by their cosines to a question whose words are all in the first, and four of
    five in the other.

    described: OF_ENTITY is the description of an entity, else a second passage holds it.
    """
    trace = trace_of_passages("Oxalic acid, winter, colony, syringe.", [OWN, *([] if described else [OF_ENTITY])])
    if described:
        [section] = trace.context.sections
        item = replace(section.items[0], mark="E1", ref="acid", text=OF_ENTITY)
        about = replace(section, name="entities", letter="E", items=(item,), text=OF_ENTITY)
        entity = replace(trace.items[0], id="acid", kind="entity", name="Oxalic acid", source=None, text=OF_ENTITY)
        trace = replace(
            trace,
            items=(*trace.items, entity),
            context=replace(trace.context, sections=(section, about), text=f"{OWN}\n{OF_ENTITY}"),
        )

    def embed(texts: list[str]) -> np.ndarray:
        sides = {OWN: 1, OF_ENTITY: -1}  # of the question's own direction
        return unit([[cosine[text], sides[text] * (1 - cosine[text] ** 2) ** 0.5] for text in texts])

    return [part.text for part in extractive_answer(trace, embed, unit([[1, 0]])[0]).parts]


def test_what_an_entity_adds_must_score_a_little_more_than_a_further_passage() -> None:
    # Scores are .2 x cosine + .8 x coverage, and a further sentence needs .72 of the best one, an entity's .03 more.
    own, near, enough = 0.9, 0.4, 0.6  # .98, of which .72 is .7056; .8 x .8 + .08 is .72, less .03 is .69; .73
    assert sentences_of_answer({OWN: own, OF_ENTITY: near}, described=True) == [OWN]
    assert sentences_of_answer({OWN: own, OF_ENTITY: enough}, described=True) == [OWN, OF_ENTITY]
    assert sentences_of_answer({OWN: own, OF_ENTITY: enough}, described=False) == [OWN, OF_ENTITY]


def test_a_sentence_that_repeats_a_better_one_is_left_out() -> None:
    assert sentences_of_answer({OWN: 0.999, OF_ENTITY: 0.99}, described=False) == [OWN]


@pytest.mark.parametrize(
    ("passage", "first"),
    [("Isolation is the purpose of virtual machines.", "entities"), ("Volumes grow by vgextend in a group.", "chunks")],
)
def test_a_description_answers_where_no_passage_has_the_word_that_is_asked_about(passage: str, first: str) -> None:
    description = "vgextend adds a disk to a group of volumes."
    trace = trace_of_passages("What does vgextend do to volumes?", [passage])
    [section] = trace.context.sections
    item = replace(section.items[0], mark="E1", ref="command", text=description)
    about = replace(section, name="entities", letter="E", items=(item,), text=description)
    entity = replace(trace.items[0], id="command", kind="entity", name="vgextend", source=None, text=description)
    context = replace(trace.context, sections=(section, about), text=f"{passage}\n{description}")
    trace = replace(trace, items=(*trace.items, entity), context=context)
    made = extractive_answer(trace, lambda texts: unit([[1, 0]] * len(texts)), unit([[1, 0]])[0])
    assert made.parts[0].section == first
