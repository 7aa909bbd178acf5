"""From the settings of a run or call to its Prover."""

from dataclasses import dataclass
from pathlib import Path

from generation.errors import UsageError
from generation.prompts import load_or_ours
from generation.proof import RIGHT_F1, ModelJudge, ModelReader, Prover, Reader


@dataclass(frozen=True)
class Proving:
    """How to prove: the fields of Prover, and models that read and judge in place of the run's own.

    No `judge_model` means no judge: the token F1 alone decides.
    """

    threshold: float = RIGHT_F1
    unique: bool = False
    drop_leaked: bool = False
    reader_model: str = ""
    judge_model: str = ""

    @property
    def models(self) -> dict[str, str]:
        """Models by the role that they play, where it is not the run's own."""
        named = {"reader": self.reader_model, "judge": self.judge_model}
        return {role: model for role, model in named.items() if model}


def prover_of(options: Proving, model: str = "", prompt_folder: Path | None = None) -> Prover:
    """The Prover of a run by `model`, or by rules where there is none."""
    if not model and options.models:
        flag = f"--{next(iter(options.models))}-model"
        raise UsageError(f"{flag} needs a model; add --model NAME, or leave it out to read by rules.")
    judge = ModelJudge(load_or_ours("judge", prompt_folder)) if options.judge_model else None
    reader = reader_of(options.reader_model or model, prompt_folder)
    return Prover(reader, options.threshold, judge, options.unique, options.drop_leaked)


def reader_of(model: str, prompt_folder: Path | None = None) -> Reader:
    """The reader that `model` plays by its prompt; without a model, the one by rules."""
    if model:
        return ModelReader(load_or_ours("reader", prompt_folder), f"model:{model}")
    from generation.proving.extractive import RuleReader  # brings spaCy

    return RuleReader()
