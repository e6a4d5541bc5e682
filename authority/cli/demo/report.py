"""What the demo tells: how each line was meant to come out and did, and what the database counts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text

from authority.cli.demo.exchange import CameOut
from authority.cli.demo.story import Act
from authority.cli.output import Json, printable, say
from authority.cli.tables import table
from authority.embedded.demo import DemoProposal
from authority.usecases.administer import CommitCounts


@dataclass(frozen=True, slots=True)
class Result:
    """One line and how it came out."""

    line: DemoProposal
    out: CameOut

    @property
    def expected(self) -> str:
        """In words."""
        expect = self.line.expect
        if expect.outcome == "committed":
            return _committed(expect.provenance.value, approved=expect.approval)
        return _refused(expect.at.value if expect.at else "", expect.reason, expect.term)

    @property
    def came_out(self) -> str:
        """In words, to be compared with what was expected."""
        out = self.out
        if out.committed:
            return _committed(out.provenance, approved=out.approved)
        return _refused(out.at.value if out.at else "", out.reason, out.term)

    @property
    def defects(self) -> list[str]:
        """Everything that is not as it must be; empty when the line came out exactly as it expects."""
        expect, out = self.line.expect, self.out
        defects = list(out.defects)
        if self.came_out != self.expected:
            defects.append("came out otherwise")
        if out.provenance not in ("", expect.provenance.value):
            defects.append(f"stamped {out.provenance} instead of {expect.provenance.value}")
        if out.approved != expect.approval:
            defects.append(f"policy {'asked' if out.approved else 'did not ask'} for an approval")
        if out.committed and not out.replayed:
            defects.append("the retry was not answered with the same receipt")
        if out.committed and not out.receipt_verified:
            defects.append("the receipt does not verify")
        return defects


@dataclass(frozen=True, slots=True)
class Report:
    """All lines, and the database's counts."""

    results: Sequence[Result]
    counts: CommitCounts
    delivered: int
    """Records of whose commit the consumer of the stream of events has heard."""
    story: Sequence[Act]
    """The acts that came after them, which the counts leave out."""

    @property
    def committed(self) -> int:
        """How many were committed."""
        return sum(result.out.committed for result in self.results)

    @property
    def ok(self) -> bool:
        """Whether every line and act came out exactly as it expects, and each commit left one of everything."""
        return not any(result.defects for result in self.results) and self._agree and all(act.ok for act in self.story)

    @property
    def _agree(self) -> bool:
        return self.counts.agree and self.counts.events == self.delivered == self.committed

    def last_line(self) -> str:
        """What the demo ends with."""
        outs = [result.out for result in self.results]
        numbers = {
            "committed": self.committed,
            "refused": sum(not out.committed for out in outs),
            "replayed": sum(out.replayed for out in outs),
            "receipts_verified": sum(out.receipt_verified for out in outs),
            "events": self.counts.events,
            "delivered": self.delivered,
            "acts": sum(act.ok for act in self.story),
        }
        return f"demo {'ok' if self.ok else 'failed'}: " + " ".join(f"{name}={n}" for name, n in numbers.items())

    def show(self) -> None:
        """The tables for people, but not the last line."""
        table(("PROPOSAL", "EXPECTED", "OK"), _rows(self.results))
        say()
        reasons = Counter(result.came_out for result in self.results if not result.out.committed)
        table(("REFUSED", "TIMES"), ((reason, str(times)) for reason, times in sorted(reasons.items())))
        say()
        counts = self.counts
        agreement = "which agree" if self._agree else "WHICH DO NOT AGREE"
        say(
            f"In the database: {counts.consumed_capabilities} consumed capabilities, {counts.receipts} receipts,"
            f" {counts.records} records, {counts.events} events, and {self.delivered} events delivered, {agreement}."
        )
        say()
        table(("WHO MAY DO WHAT", "EXPECTED", "OK"), map(_act_row, self.story))

    def as_json(self, seconds: float) -> Json:
        """The same for machines."""
        counts = self.counts
        return {
            "ok": self.ok,
            "seconds": round(seconds, 2),
            "lines": [_document(result) for result in self.results],
            "counts": {
                "consumed_capabilities": counts.consumed_capabilities,
                "receipts": counts.receipts,
                "records": counts.records,
                "events": counts.events,
                "delivered": self.delivered,
            },
            "story": [
                {"act": act.name, "expected": act.expected, "came_out": act.came_out, "ok": act.ok}
                for act in self.story
            ],
            "summary": self.last_line(),
        }


def _committed(provenance: str, *, approved: bool) -> str:
    return f"committed as {provenance}{', once approved' if approved else ''}"


def _refused(at: str, reason: str, term: str) -> str:
    return f"refused at {at}: {' '.join(part for part in (reason, term) if part)}"


def _rows(results: Sequence[Result]) -> Iterator[tuple[str | Text, ...]]:
    """The lines of each tenant below its name; how one came out is told where it is not as expected."""
    for tenant, group in groupby(results, key=lambda result: result.line.tenant):
        yield (Text(tenant, style="bold"), "", "")
        for result in group:
            yield (f"  {result.line.name}", result.expected, _verdict(result))


def _verdict(result: Result) -> Text:
    if not result.defects:
        return Text("yes", style="green")
    defects = "; ".join(result.defects)
    otherwise = "" if result.came_out == result.expected else f"{result.came_out}; "
    return Text(printable(f"NO: {otherwise}{defects}"), style="bold red")


def _act_row(act: Act) -> tuple[str | Text, ...]:
    verdict = Text("yes", style="green") if act.ok else Text(printable(f"NO: {act.came_out}"), style="bold red")
    return (act.name, act.expected, verdict)


def _document(result: Result) -> Json:
    out = result.out
    return {
        "name": result.line.name,
        "tenant": result.line.tenant,
        "expected": result.expected,
        "came_out": result.came_out,
        "ok": not result.defects,
        "defects": result.defects,
        "replayed": out.replayed,
        "receipt_verified": out.receipt_verified,
    }
