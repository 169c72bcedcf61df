/** An audit entry, for tests. */
import type { AuditEntry } from '@rollcall/core/model/audit-entry'

/** An entry of an answer, with the members that a test names. */
export const auditEntry = (members: Partial<AuditEntry> = {}): AuditEntry => ({
  kind: 'answer',
  participant: 'sp.example',
  operator: null,
  registry: 'civil',
  operation: 'search',
  correlation_id: null,
  transaction_id: null,
  request: null,
  reply: null,
  grant: 1,
  basis: 'law',
  purpose: null,
  consent: null,
  outcomes: { succ: 1 },
  records: 1,
  asked: { record_types: ['Person'], forms: ['idtype-value'], attributes: [] },
  shown: { Person: ['name'] },
  ...members,
})
