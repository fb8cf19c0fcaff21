"""roles: which server and model each task is asked at, and changes of it."""

import argparse
import os
from dataclasses import fields, replace
from typing import Any

from leanrag_core.commands._options import Verbs, help_text, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.errors import InvalidConfig
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.messages.catalog import sentence
from leanrag_core.models.providers import provider
from leanrag_core.models.reranking import rerank_form
from leanrag_core.types.roles import EXTRACTION, ROLES, Price, Role
from leanrag_core.types.settings import Settings
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.role_checks import is_asked, leaves, role_model, served_by
from leanrag_core.workbench.samples import FIRST_SAMPLE

_TEXTS = ("key_variable", "body", "query_prefix", "passage_prefix", "rerank_form")


def add_verbs(verbs: Verbs) -> None:
    """Add the verb roles."""
    parser = verbs.add_parser("roles", help="show or set which server and model each task is asked at")
    parser.add_argument("role", nargs="?", choices=ROLES, help="the role to set; all are shown without one")
    parser.add_argument("--provider", metavar="NAME", help="a known provider: its address and the usual key variable")
    parser.add_argument("--address", metavar="URL", help="of the role's server; empty: the endpoint of all")
    parser.add_argument("--model", metavar="openai:NAME", help="the role's model; empty: the built-in engine")
    specs = {spec.name: spec for spec in fields(Role)}
    for name in _TEXTS:
        parser.add_argument(f"--{name.replace('_', '-')}", help=help_text(specs[name]))
    for name, spec in specs.items():
        if isinstance(spec.default, int | float) or name == "temperature":
            kind = int if isinstance(spec.default, int) else float
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=help_text(spec))
    parser.add_argument("--price", type=float, nargs=2, metavar=("IN", "OUT"), help="US dollars for a million tokens")
    parser.add_argument("--clear", action="store_true", help="ask the role as all are asked")
    parser.add_argument("--check", action="store_true", help="make a small call to the role, and say what came of it")
    set_run(parser, _roles)


def _roles(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    changes: dict[str, Any] = {
        spec.name: value for spec in fields(Role) if (value := getattr(options, spec.name, None)) is not None
    }
    changes.pop("model", None)
    if options.address is not None:
        changes["base_url"] = options.address
    if options.rerank_form is not None:
        changes["rerank_form"] = rerank_form(options.rerank_form).name
    if options.price is not None:
        changes["price"] = Price(*options.price)
    wanted = bool(changes or options.clear or options.provider or options.model is not None)
    if (wanted or options.check) and options.role is None:
        raise InvalidConfig("role.name_one", known=", ".join(ROLES))
    if wanted:
        settings = bench.settings.read()
        new_role = Role() if options.clear else settings.roles.get(options.role, Role())
        if options.provider:
            known = provider(options.provider, options.role).role(options.role)
            new_role = replace(
                new_role, base_url=known.base_url, key_variable=known.key_variable, rerank_form=known.rerank_form
            )
        new_role = replace(new_role, **changes)
        model = "" if options.clear and options.model is None else options.model
        bench.settings.change(lambda settings: settings.with_role(options.role, new_role, model))
    _print(bench, options)


def _print(bench: Any, options: argparse.Namespace) -> None:
    settings = bench.settings.read()
    checked = bench.role_checks.check(options.role, _passage(bench, options.role)) if options.check else None
    rows = []
    for role in (options.role,) if options.role else ROLES:
        role_settings = settings.of_role(role)
        rows.append(
            {
                "role": role,
                "address": _address(settings, role),
                "model": role_model(settings, role) or "builtin",
                "key_variable": role_settings.key_variable,
                "key_is_set": bool(os.environ.get(role_settings.key_variable)),
                "leaves_this_machine": role in leaves(settings),
                "fields": settings.own_role(role).body_fields,
            }
        )
    check_record = {"state": checked.state, "said": sentence(checked.said)} if checked else None
    if printed_json(options, {"roles": rows, "check": check_record}):
        return
    for row in rows:
        backend = served_by(settings, row["role"])
        elsewhere = "on this machine, built in" if backend is None else sentence(backend)
        where = f"{row['address']}, key in {row['key_variable']}" if row["address"] else elsewhere
        print(f"{row['role']:<12} {visible(row['model']):<32} {visible(where)}")
    if checked:
        print(f"{checked.state}: {sentence(checked.said)}")


def _address(settings: Settings, role: str) -> str:
    """Return the address that the role is asked at; "" for the built-in engine, and for a back-end without one."""
    if served_by(settings, role) is not None:
        return settings.own_role(role).base_url
    return (settings.of_role(role).base_url or "https://api.openai.com/v1") if is_asked(settings, role) else ""


def _passage(bench: Workbench, role: str) -> str:
    """Return a passage of a sample corpus whose entities are known, for the check of extraction."""
    corpus_id = f"sample-{FIRST_SAMPLE}"
    if role != EXTRACTION:
        return ""
    if corpus_id not in {corpus.id for corpus in bench.corpora.all()}:
        return ""
    documents = bench.corpora.documents(corpus_id)
    chunks = chunk_documents([bench.corpora.document(corpus_id, documents[0].id)], max_tokens=320, overlap_tokens=0)
    return str(chunks[min(1, len(chunks) - 1)].text)
