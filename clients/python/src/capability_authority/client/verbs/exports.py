"""The verb of MemoryService that has a record handed over with its proofs."""

from typing import Literal, TypeAlias, Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.errors import ExportRejected
from capability_authority.client.memory_values import RecordExport
from capability_authority.client.rpcs import RPCS
from capability_authority.client.statuses import KeyedCall
from capability_authority.client.words import name_of
from capability_authority.offline import check_export
from capability_authority.v1 import memory_service_pb2 as pb

__all__ = ["ExportForm", "ExportVerbs"]

ExportForm: TypeAlias = Literal["compact", "audit"]


class ExportVerbs(Connection):
    """Records with everything that proves them."""

    async def export(
        self, record_id: str, *, form: ExportForm = "compact", verify: bool = True, **options: Unpack[CallOptions]
    ) -> RecordExport:
        """A record with its receipt and, in the form "audit", with all that its commit stood on and what became of it.

        The compact form proves content, evidence, place and parties; provenance, references and costs need "audit".
        Every signature and digest is checked against the keys of the pinned issuer, fetched anew. `message` of the
        result is what to keep as a file: `offline.check_export` checks it again anywhere, any time.

        Raises `AuthorityError`: `NotFound` when the record is absent or not visible to the caller (admins have what is
        revoked, expired or superseded too, in the form "audit"); `ExportRejected` when a check fails, unless `verify`
        is False: then `checks` alone tell. `KeySetRefused` (of `offline`) when the authority is not the pinned issuer.
        """
        form_number = pb.ExportRecordRequest.Form.Value(name_of(pb.ExportRecordRequest.Form, form))
        request = pb.ExportRecordRequest(record_id=record_id, form=form_number)
        remaining = self._started(options)
        message = (await self._send(request, pb.ExportRecordResponse, **remaining())).export
        key_set = await self._key_sets.current(at_least_since=self._now(), **remaining())
        tenant = self.credentials.tenant
        found = RecordExport(message, check_export(message, key_set, tenant=(tenant.namespace, tenant.id)))
        if message.record.record_id != record_id:
            found = found.of_another(record_id)
        if verify and found.broken:
            sentence = "; ".join(f"{check.part}: {check.because}" for check in found.broken)
            failure = KeyedCall(RPCS["ExportRecord"]).failure(None, f"the export is not believed: {sentence}")
            raise ExportRejected(failure, found)
        return found
