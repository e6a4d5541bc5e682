"""What a record's story tells of grants, of quorums, and of what nobody allowed."""

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from authority.cli.why.story import Story
from capability_authority.client import RecordExport
from capability_authority.offline import to_wire
from capability_authority.offline.statements import PAYLOAD_CLASSES
from capability_authority.v1 import memory_service_pb2 as pb
from capability_authority.v1 import statements_pb2 as said
from capability_authority.v1.types_pb2 import PrincipalRef

AGENT, SERVICE, USER, ADMIN = (
    PrincipalRef(namespace="demo", id=name) for name in ("agent", "service", "user", "admin")
)
GRANT = bytes(range(32))


def payload_type(message: Message) -> str:
    (found,) = (name for name, its_class in PAYLOAD_CLASSES.items() if its_class is type(message))
    return found


def signed(message: Message) -> said.SignedStatement:
    return said.SignedStatement(
        payload_type=payload_type(message), payload=message.SerializeToString(deterministic=True)
    )


def told(trail: pb.AuditTrail, title: str, *, validated: bool = True) -> dict[str, str]:
    """The rows of one chapter by their labels."""
    record = pb.MemoryRecord(record_id="r-1", proposer=AGENT, validated=validated, create_time=Timestamp(seconds=1))
    if validated:
        record.proposal_id, record.proposal_revision = "p-1", 1
    story = Story(RecordExport(pb.RecordExport(record=record, state=pb.RECORD_STATE_LIVE, trail=trail), ()))
    return {label: value for chapter in story.chapters if chapter.title == title for label, value in chapter.rows}


def test_whose_name_it_was_proposed_in_and_through_whom() -> None:
    # given a revision that the agent proposed under a grant of the user, which came to it through the service
    revision = said.ProposalRevision(proposer=AGENT, actor_chain=[SERVICE, AGENT], subject=USER)
    trail = pb.AuditTrail()
    trail.revisions.add(payload_type=payload_type(revision), payload=revision.SerializeToString(deterministic=True))

    origin = told(trail, "FROM")

    assert origin["through"] == "demo|service, demo|agent"
    assert origin["in name of"] == "demo|user, the subject of a grant"


def test_the_grant_by_which_its_capability_was_issued() -> None:
    under = pb.AuditTrail(capability=signed(said.CommitCapability(capability_id="c-1", grant_digest=GRANT)))
    alone = pb.AuditTrail(capability=signed(said.CommitCapability(capability_id="c-1")))

    assert told(under, "ALLOWED")["by grant"] == to_wire(GRANT)
    assert "by grant" not in told(alone, "ALLOWED")


def test_how_many_persons_were_wanted_and_whose_approvals_counted() -> None:
    # given a decision that wanted two, and a third approval that it does not rest on
    decision = said.DecisionReceipt(decision_id="d-1", persons_needed=2, approval_references=["a-1", "a-2"])
    trail = pb.AuditTrail(decision_receipt=signed(decision))
    for reference, person in (("a-1", USER), ("a-2", ADMIN), ("a-3", SERVICE)):
        trail.approvals.add(approval_reference=reference, decided_by=person)

    assert told(trail, "ALLOWED")["persons"] == "2 wanted; it rests on demo|user, demo|admin"


def test_what_policy_alone_allowed_wanted_no_person() -> None:
    trail = pb.AuditTrail(decision_receipt=signed(said.DecisionReceipt(decision_id="d-1")))

    assert "persons" not in told(trail, "ALLOWED")


def test_what_was_written_without_validation_was_allowed_by_nobody_and_has_no_proposal() -> None:
    allowed = told(pb.AuditTrail(), "ALLOWED", validated=False)

    assert allowed == {"by nobody": "written without validation, as the mode allowed, 1970-01-01T00:00:01.000Z"}
    assert "proposal" not in told(pb.AuditTrail(), "FROM", validated=False)
