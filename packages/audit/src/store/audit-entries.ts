/** Audit entries in statements of other packages. They read these columns, and the tables are named in this package alone. */
import { AUDIT_ENTRIES as STORED } from './entry-shape.ts'

/**
 * SQL of a relation to join: each entry with the message_id of its request, its correlation_id and its members. Of an
 * id, a digest or a signature the members say only whether there is one.
 */
export const AUDIT_ENTRIES = `(select message_id, content::jsonb as members,
    coalesce(correlation_id::text, content::jsonb ->> 'correlation_id') as correlation_id from ${STORED})`
