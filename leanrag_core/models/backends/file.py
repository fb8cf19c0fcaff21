"""A model file of this machine, served by llama.cpp in a process that the program starts: nothing leaves the machine,
and no account is needed."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leanrag_core.errors import ModelUnavailable
from leanrag_core.messages.message import message
from leanrag_core.models.base import EmbeddingModel, LanguageModel
from leanrag_core.models.endpoint import Endpoint
from leanrag_core.models.gguf import ModelFile
from leanrag_core.models.model_server import ModelServers, Server, plan_for
from leanrag_core.models.pacing import Pacer
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.types.config import file_model

if TYPE_CHECKING:
    from leanrag_core.models.registry import Models

_TIMEOUT_SECONDS = 1800.0  # for a long reply of a slow machine: nothing else is in the way


class Backend:
    """Model files by their names: file:NAME.gguf."""

    name = "file"
    title = message("backend.file")

    def __init__(self, models: "Models") -> None:
        self._models = models
        self._endpoints: dict[str, FileEndpoint] = {}

    def language(self, model: str) -> LanguageModel:
        """Return the model of that file, which is loaded when it is first asked. Raises ModelUnavailable for a file
        that is missing, is not a model, or is too large for this machine."""
        work = self._models
        if work.model_files is None:
            raise ModelUnavailable("model_file.no_home")
        file = work.model_files.named(model)
        if file.digest not in self._endpoints:
            self._endpoints[file.digest] = FileEndpoint(file, work.model_files.servers, work)
        endpoint = self._endpoints[file.digest]
        pacer = work.file_pacers.setdefault(
            file.digest, Pacer(endpoint.settings, n_slots=lambda: endpoint.settings.concurrency)
        )
        return FileLanguageModel(file, endpoint, pacer, work)

    def embedding(self, model: str, fingerprint: str) -> EmbeddingModel:
        """Raise ModelUnavailable: model files write text and do not embed."""
        raise ModelUnavailable("model_file.embeds_nothing")


class FileEndpoint(Endpoint):
    """The server of one model file: started with the first call, and again where it has died since."""

    def __init__(self, file: ModelFile, servers: ModelServers, work: "Models") -> None:
        plan, settings = plan_for(file), work.settings
        super().__init__(
            replace(
                settings,
                base_url="http://127.0.0.1/v1",  # on this machine; the port is known once the server runs
                concurrency=plan.n_slots,
                requests_per_minute=0,
                tokens_per_minute=0,
                timeout_seconds=max(settings.timeout_seconds, _TIMEOUT_SECONDS),
            ),
            role=work.role,
            speeds=work.speeds,
        )
        self._file, self._servers, self._plan = file, servers, plan
        self._connected: tuple[Server, Endpoint] | None = None

    @property
    def address(self) -> str:
        """The file's name, since a port would mean nothing to a person."""
        return self._file.name

    @property
    def _key(self) -> str:
        return "" if self._connected is None else self._connected[0].key

    @property
    def _client(self) -> Any:
        server = self._servers.ensure(self._file)
        if self._connected is None or self._connected[0] != server:
            at = Endpoint(replace(self.settings, base_url=server.address), self.forms, key=server.key)
            self._connected = server, at
        return self._connected[1]._client

    def models(self) -> list[str]:
        """Return the file's name."""
        return [self._file.name]

    def context_window(self, model: str, *, load: bool = False) -> int | None:
        """Return the tokens of a slot, as they are planned."""
        return self._plan.window

    def _said_window(self, model: str) -> int | None:
        """Return the planned tokens: nothing is loaded before the first call."""
        self.forms.n_slots = self._plan.n_slots
        return self._plan.window


class FileLanguageModel(RemoteLanguageModel):
    """A model file, known by its name and its content: another file of the same name is another model."""

    def __init__(self, file: ModelFile, endpoint: FileEndpoint, pacer: Pacer, work: "Models") -> None:
        super().__init__(file.name, endpoint, pacer, work.meter, work.memory, index=work.index)
        self.name = file_model(file.name)
        self._digest = file.digest

    @property
    def fingerprint(self) -> str:
        """The fingerprint as of any model at an endpoint, and the digest of the file's content."""
        return f"{super().fingerprint}+{self._digest}"
