"""What a model is told, and what went into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter
from pydantic import Field

from turnleaf.core.composer import Document
from turnleaf.core.memories import checked_text
from turnleaf.core.terms import parse_query
from turnleaf.errors import InvalidInput
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.facts import read_facts
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.shapes import Body, Fact, Hit, Shape, Words

if TYPE_CHECKING:
    from collections.abc import Collection

    from turnleaf.assistant import Assistant, Composed

router = APIRouter(tags=["talking"], dependencies=[JSON_ONLY])

MAX_NAME_CHARS = 200
UNSAID = "web:new"
"""The key of a conversation that has not begun."""


class Attached(Body):
    """A document that goes with a message; what is learnt from it waits for the user."""

    name: Annotated[
        str,
        Field(
            json_schema_extra={"pattern": r"^[^\x00-\x1f\x85\u2028\u2029]*$"},
            examples=["notes.md", "筆記.md"],
        ),
        Field(min_length=1, max_length=MAX_NAME_CHARS),
    ]
    text: str

    def as_document(self) -> Document:
        """Give it as a turn takes it."""
        name = checked_text(self.name, "a document's name")
        if name.splitlines() != [name] or not name.strip():
            message = "a document's name is one line, such as notes.md; correct it"
            raise InvalidInput(message)
        return Document(name, checked_text(self.text, f"the document {name}"))


class Said(Body):
    """What the user says."""

    message: Words = Field(examples=["客廳的燈叫什麼？", "What is the living room lamp called?"])
    key: str | None = Field(default=None, examples=["web:4f1c2a9b"])
    private: bool = False
    documents: list[Attached] = Field(default=[])

    @property
    def attached(self) -> list[Document]:
        """The documents, as a turn takes them."""
        return [one.as_document() for one in self.documents]


class Section(Shape):
    """A part of a prompt and its size."""

    name: str = Field(examples=["Long-term Memory"])
    tokens: int


class ShapedBy(Shape):
    """What went into a prompt, and what gave way."""

    facts: list[Fact]
    hits: list[Hit]
    left_out: list[str]
    sections: list[Section]


class Spoken(Shape):
    """A message of a prompt."""

    role: str = Field(examples=["user"])
    content: str


class Preview(ShapedBy):
    """A whole prompt: as a system prompt with messages, and as the one text that programs get."""

    system: str
    messages: list[Spoken]
    text: str
    tokens: int
    max_tokens: int
    model: str = Field(examples=["claude-cli"])


@router.post("/api/prompt/preview", operation_id="previewPrompt", summary="Preview a prompt")
def preview(said: Said, assistant: Given) -> Preview:
    """Compose the prompt of a message that is not sent; nothing is changed by it."""
    composed = assistant.preview(
        UNSAID if said.key is None else said.key,
        said.message,
        private=said.private,
        documents=said.attached,
    )
    return described(composed, assistant)


def described(composed: Composed, assistant: Assistant) -> Preview:
    """Give a prompt's form."""
    prompt = composed.prompt
    shaped = shaped_by(composed, assistant)
    return Preview(
        **dict(shaped),
        system=prompt.system,
        messages=[Spoken(role=one.role, content=one.text) for one in prompt.messages],
        text=prompt.text,
        tokens=sum(section.tokens for section in shaped.sections),
        max_tokens=assistant.prompt_max_tokens,
        model=assistant.model.name,
    )


def shaped_by(composed: Composed, assistant: Assistant) -> ShapedBy:
    """Give what went into a prompt."""
    told = composed.explanation
    wanted = parse_query(composed.prompt.question).terms
    return ShapedBy(
        facts=_facts(assistant, set(told.memories)),
        hits=[Hit.of(hit, assistant, wanted, explain=True) for hit in told.hits],
        left_out=list(told.left_out),
        sections=[Section(name=one.name, tokens=one.tokens) for one in told.sections],
    )


def _facts(assistant: Assistant, ids: Collection[str]) -> list[Fact]:
    if not ids:
        return []
    return [fact for fact in read_facts(assistant) if fact.id in ids]
