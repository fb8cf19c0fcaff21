"""Model files: what their headers say, how they are planned for a machine, found by name, served and ended."""

import os
import signal
import stat
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest

from leanrag_core import IndexConfig, Workbench
from leanrag_core.errors import ModelUnavailable
from leanrag_core.models import model_server
from leanrag_core.models.gguf import ModelFile, read_model_file
from leanrag_core.models.model_files import ModelFiles
from leanrag_core.models.model_server import ModelServers, Plan, is_held, plan_for
from tests import waiting
from tests.endpoint.model_files import AVAILABLE, LLAMA, WHY_NOT, header, text, weights

PROJECT = Path(__file__).resolve().parents[2]
GB = 10**9
needs_model = pytest.mark.skipif(not AVAILABLE, reason=WHY_NOT)


def a_file(folder: Path, content: bytes, name: str = "tiny.gguf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def files_of(home: Path, folder: str = "") -> ModelFiles:
    return ModelFiles(home, lambda: folder)


# Headers


def test_a_header_tells_the_window_and_the_memory_of_a_token(tmp_path: Path) -> None:
    file = read_model_file(a_file(tmp_path, header({"tokenizer.x": ["a", "b"], **LLAMA})))
    assert (file.name, file.context_tokens, file.writes) == ("tiny.gguf", 4096, True)
    # 4 layers x 2 shared heads x (8 + 8) numbers of keys and values x 2 bytes
    assert file.kv_bytes == 256
    assert file.n_bytes == (tmp_path / "tiny.gguf").stat().st_size


@pytest.mark.parametrize("more", [{"general.architecture": "nomic-bert"}, {"llama.pooling_type": 1}])
def test_a_model_that_makes_vectors_writes_nothing(tmp_path: Path, more: dict[str, object]) -> None:
    assert not read_model_file(a_file(tmp_path, header({**LLAMA, **more}))).writes


def test_files_of_one_name_and_size_are_told_apart_by_their_content(tmp_path: Path) -> None:
    first, second = (
        read_model_file(a_file(tmp_path / name, header(LLAMA) + name.encode() * 10)).digest for name in ("a", "b")
    )
    assert first != second
    assert read_model_file(tmp_path / "a" / "tiny.gguf").digest == first


def test_a_model_in_parts_is_as_large_as_all_of_them_and_named_by_the_first(tmp_path: Path) -> None:
    a_file(tmp_path / "models", header(LLAMA), "m-00001-of-00002.gguf")
    a_file(tmp_path / "models", bytes(5000), "m-00002-of-00002.gguf")
    [listed] = files_of(tmp_path).all()
    assert listed.name == "m-00001-of-00002.gguf"
    assert listed.n_bytes == len(header(LLAMA)) + 5000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>not found</html>",
        b"GGUF",
        header(LLAMA)[:-3],
        header(LLAMA, version=1),
        header(LLAMA, n_fields=10**18),
        header(LLAMA, n_fields=9_999),
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<IIQ", 9, 0, 1 << 60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<IIQ", 9, 9, 1),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("x") + struct.pack("<I", 99),
        header({"general.name": "nobody"}),
    ],
)
def test_what_is_no_model_is_named_without_its_folder(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelUnavailable, match=r"^tiny\.gguf ") as raised:
        read_model_file(a_file(tmp_path, content))
    assert str(tmp_path) not in str(raised.value)


# Plans


def of_size(n_bytes: int, *, kv_bytes: int = 114_688, context_tokens: int = 40_960) -> ModelFile:
    return ModelFile("m.gguf", Path("m.gguf"), n_bytes, context_tokens, kv_bytes, writes=True, digest="0")


def test_a_large_machine_reads_four_prompts_at_a_time_and_a_small_one_one_shorter_one() -> None:
    large = plan_for(of_size(GB), n_cores=16, total_bytes=64 * GB)
    assert (large.window, large.n_slots, large.n_threads) == (8192, 4, 15)
    assert plan_for(of_size(GB), n_cores=4, total_bytes=16 * GB).n_slots == 2
    small = plan_for(of_size(GB), n_cores=4, total_bytes=3 * GB)
    assert (small.window, small.n_slots) == (4096, 1)
    assert small.n_bytes < 0.9 * 3 * GB


def test_no_window_is_larger_than_what_the_model_was_trained_for() -> None:
    assert plan_for(of_size(GB, context_tokens=2048), n_cores=4, total_bytes=16 * GB).window == 2048


def test_a_model_larger_than_the_memory_is_refused_with_both_figures() -> None:
    with pytest.raises(ModelUnavailable, match=r"takes 40\.\d GB of memory, and this machine has 16\.0"):
        plan_for(of_size(40 * GB), n_cores=4, total_bytes=16 * GB)


# By name


def test_files_are_found_in_the_folder_and_by_their_paths_and_known_by_their_names_alone(tmp_path: Path) -> None:
    a_file(tmp_path / "home" / "models", header(LLAMA), "b.gguf")
    a_file(tmp_path / "home" / "models", b"nothing", "c.gguf")
    elsewhere = a_file(tmp_path / "secret folder", header(LLAMA), "a.gguf")
    files = files_of(tmp_path / "home")
    assert files.add(elsewhere).name == "a.gguf"
    assert [(each.name, each.by_path, each.fault is None) for each in files.all()] == [
        ("a.gguf", True, True),
        ("b.gguf", False, True),
        ("c.gguf", False, False),
    ]
    assert files_of(tmp_path / "home").named("a.gguf").path == elsewhere.resolve(), "another process knows it"
    assert "secret folder" not in repr([each.name for each in files.all()])
    with pytest.raises(ModelUnavailable, match=r"a\.gguf"):
        files.add("~no-such-user/a.gguf")
    record = tmp_path / "home" / "model_files.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    files.forget("a.gguf")
    assert [each.name for each in files.all()] == ["b.gguf", "c.gguf"]
    assert elsewhere.exists()


@pytest.mark.parametrize("name", ["nobody.gguf", "../outside.gguf", "/etc/passwd", ".."])
def test_a_name_leads_out_of_no_folder(tmp_path: Path, name: str) -> None:
    a_file(tmp_path, header(LLAMA), "outside.gguf")
    (tmp_path / "home" / "models").mkdir(parents=True)
    with pytest.raises(ModelUnavailable, match="not in the models folder") as raised:
        files_of(tmp_path / "home").named(name)
    assert str(tmp_path) not in str(raised.value)


def test_another_folder_of_the_settings_is_looked_into(tmp_path: Path) -> None:
    a_file(tmp_path / "weights", header(LLAMA))
    assert [each.name for each in files_of(tmp_path / "home", str(tmp_path / "weights")).all()] == ["tiny.gguf"]
    assert files_of(tmp_path / "home", str(tmp_path / "nowhere")).all() == ()


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_server, "is_installed", lambda: False)
    file = read_model_file(a_file(tmp_path, header(LLAMA)))
    with pytest.raises(ModelUnavailable, match=r"'pip install -r requirements-local\.txt'"):
        ModelServers(tmp_path / "servers").ensure(file)


def test_a_model_file_costs_nothing_embeds_nothing_and_needs_a_workbench(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    a_file(tmp_path / "models", header(LLAMA))
    models = bench.models.make()
    language = models.language("file:tiny.gguf")
    assert language is not None
    assert language.name == "file:tiny.gguf"
    assert language.fingerprint.startswith("file:tiny.gguf@t0+")
    assert models.settings.unpriced(["file:tiny.gguf", "openai:m"]) == ["m"]
    with pytest.raises(ModelUnavailable, match="makes no vectors"):
        models.embedding("file:tiny.gguf")
    corpus = bench.add_documents("Mill", [("mill.txt", b"Hester Lunn built the tide mill at Carrow.")]).corpus_id
    assert bench.builds.forecast(corpus, IndexConfig(model="file:tiny.gguf")).calls.high > 0
    models.model_files = None
    with pytest.raises(ModelUnavailable, match="workbench alone"):
        models.language("file:other.gguf")
    assert not list((tmp_path / "model_servers").glob("*")), "nothing is started before the first call"


# Served


def served(tmp_path: Path) -> tuple[ModelServers, ModelFile]:
    return ModelServers(tmp_path / "servers"), read_model_file(weights())


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@needs_model
@pytest.mark.slow
def test_one_server_serves_all_users_and_ends_with_the_last_of_them(tmp_path: Path) -> None:
    servers, file = served(tmp_path)
    other = ModelServers(tmp_path / "servers")
    server = servers.ensure(file)
    assert other.ensure(file) == server
    assert server.address.startswith("http://127.0.0.1:")
    shown = psutil.Process(server.pid)
    assert server.key not in " ".join(shown.cmdline())
    assert server.key not in str(shown.environ())
    folder = tmp_path / "servers" / file.digest
    assert server.key not in (folder / "log.txt").read_text()
    assert stat.S_IMODE((folder / "server.json").stat().st_mode) == 0o600
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{server.address}/models", timeout=5)
    servers.close()
    # Another user goes on: the server looks every half second.
    assert not gone(server.pid)
    assert other.ensure(file) == server
    other.close()
    waiting.until(lambda: gone(server.pid))
    assert not (folder / "server.json").exists()


HOLDS = """
import sys, time
from pathlib import Path
from leanrag_core.models.gguf import read_model_file
from leanrag_core.models.model_server import ModelServers
server = ModelServers(Path(sys.argv[1])).ensure(read_model_file(Path(sys.argv[2])))
print(server.pid, flush=True)
time.sleep(600)
"""


@needs_model
@pytest.mark.slow
def test_a_kill_of_its_only_user_leaves_no_server_behind(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", HOLDS, str(tmp_path / "servers"), str(weights())]
    user = subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert user.stdout is not None
    pid = int(user.stdout.readline())
    assert not gone(pid)
    user.send_signal(signal.SIGKILL)
    user.wait(timeout=20)
    waiting.until(lambda: gone(pid))


@needs_model
@pytest.mark.slow
def test_a_server_that_died_or_was_stopped_is_started_again(tmp_path: Path) -> None:
    servers, file = served(tmp_path)
    first = servers.ensure(file)
    os.kill(first.pid, signal.SIGKILL)
    waiting.until(lambda: servers.running(file) is None, otherwise=lambda: "a record without a process is none")
    second = servers.ensure(file)
    assert second.pid != first.pid
    servers.stop(file)
    waiting.until(lambda: gone(second.pid))
    third = servers.ensure(file)
    assert third.key not in (first.key, second.key)
    servers.close()
    waiting.until(lambda: not is_held(tmp_path / "servers" / file.digest / "alive"))


@needs_model
@pytest.mark.slow
def test_a_file_that_llama_cpp_refuses_is_named_with_its_reason(tmp_path: Path) -> None:
    file = read_model_file(a_file(tmp_path / "folder", header(LLAMA)))
    servers = ModelServers(tmp_path / "servers")
    with pytest.raises(ModelUnavailable, match=r"llama\.cpp does not serve tiny\.gguf \(.+\)") as raised:
        servers.ensure(file)
    assert str(tmp_path) not in str(raised.value)
    servers.close()


def test_a_plan_is_the_same_each_time(tmp_path: Path) -> None:
    file = read_model_file(a_file(tmp_path, header(LLAMA)))
    assert isinstance(plan_for(file), Plan)
    assert plan_for(file) == plan_for(file)
