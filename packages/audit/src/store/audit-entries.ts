/** SQL for statements of other packages that read audit entries. The tables are named in this package alone. */
import { ENTRIES_WITH_CONTENT_SQL } from './entry-shape.ts'

/**
 * SQL for a `from` clause: each entry with the message_id of its request, its correlation_id and its members. Members that are
 * ids, digests or signatures may have marks in place of their values, and so say only whether there is a value.
 */
export const AUDIT_ENTRIES_SQL = `(select message_id, content::jsonb as members,
    coalesce(correlation_id::text, content::jsonb ->> 'correlation_id') as correlation_id from ${ENTRIES_WITH_CONTENT_SQL})`
