"""What the demo proposes: about sixty pieces of memory that three small firms' agents and people would want kept.

`proposals.jsonl` holds one proposal a line, to be run in the order of the file, for a duplicate follows its original.
`tenants.jsonl` holds the firms, each with its memory namespaces and the one team that all of its people are in.

The fields of a proposal:

- `name`: a slug that no other line has. `tenant`: the firm's id.
- `proposer`: the kind of principal that proposes, one of agent, user, observer, service, tool. What an observer or a
  tool proposes is visible to the whole workspace, since they cannot read it back themselves.
- `memory_namespace`, `memory_type`, `media_type`, `source_refs`, `subject_refs`, `evidence_digests`, `visibility`,
  `costs`: as in CreateProposalRequest, in the words of the domain.
- `content`: a JSON object, which the client makes canonical, or a string, whose UTF-8 bytes are proposed as they are.
- `valid_from_hours`, `valid_until_hours`, `record_expire_hours`: hours from the moment of proposing, negative for
  before; optional. Dates would make the data go stale.
- `twist`: what the demo does wrong on purpose, or null; see `Twist`. `pad_to` belongs to `oversized`: the content is
  filled up to so many bytes with the letter x. `duplicate_of` belongs to `duplicate`: the name of the original.
- `expect`: see `Expectation`. The policy in it is the one that is shipped.
"""

from authority.embedded.demo.lines import DemoNamespace, DemoProposal, DemoTenant, Expectation, Stage, Twist
from authority.embedded.demo.loader import DemoDataError, load_proposals, load_tenants

__all__ = [
    "DemoDataError",
    "DemoNamespace",
    "DemoProposal",
    "DemoTenant",
    "Expectation",
    "Stage",
    "Twist",
    "load_proposals",
    "load_tenants",
]
