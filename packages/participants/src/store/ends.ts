/** Finds the grants and keys of participants that end soon. */
import type { GrantOrKeyExpiry } from '@rollcall/core/model/health'
import type { Database } from '@rollcall/database/database'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'

/**
 * Finds active participants that will have no grant in a registry, or no key for a use, within this many days. A participant with
 * several grants or keys is found only when the one with the latest end ends within these days. Participants whose grant or key
 * has ended already are left out.
 */
export async function findGrantsAndKeysEndingSoon(
  { pool }: Pick<Database, 'pool'>,
  days: number,
): Promise<readonly GrantOrKeyExpiry[]> {
  const { rows } = await pool.query<GrantOrKeyExpiry>({
    name: 'ends of grants and keys',
    text: `with last as (
        select 'grant' as what, participant, registry, '' as use,
          max(coalesce(valid_until, 'infinity'::timestamptz)) as ends
        from participant_grant where revoked_at is null group by participant, registry
        union all
        select 'key', participant, null, use, max(coalesce(valid_until, 'infinity'::timestamptz))
        from participant_key where revoked_at is null group by participant, use
      )
      select what, participant.sender_id, coalesce(namespace, use) as of, extract(epoch from ends)::float8 as ends
      from last join participant on participant.id = last.participant left join ${REGISTRIES_SQL} as registry on registry.id = last.registry
      where status = 'active' and ends > now() and ends <= now() + make_interval(days => $1)
      order by ends, participant.sender_id, what, "of"`,
    values: [days],
  })
  return rows
}
