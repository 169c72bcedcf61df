/** Grants of participants in tests: everything in every registry, unless a test says otherwise. */
import type { GrantTerms } from '@rollcall/core/model/grant'
import { GRANT_TEMPLATES } from '@rollcall/core/policy/grant-templates'
import type { Database } from '@rollcall/database/database'
import { addGrant } from '@rollcall/participants/store/grants'
import { findParticipant } from '@rollcall/participants/store/participants'
import { requireRegistry } from '@rollcall/records/registries/registries'

const [everything] = GRANT_TEMPLATES
if (everything === undefined) throw new Error('there is no template')

/** All but subscriptions without a filter. */
export const EVERYTHING: GrantTerms = { ...everything.terms, unfiltered: false }

/** Grants everything to every participant that has no grant in a registry. */
export async function grantEverything({ db }: { readonly db: Database }, terms: Partial<GrantTerms> = {}): Promise<void> {
  await db.pool.query(
    `insert into participant_grant (participant, registry, terms, valid_from, created_at)
     select participant.id, registry.id, $1, now() - interval '1 day', now() - interval '1 day' from participant, registry
     where not exists (select from participant_grant as held
       where held.participant = participant.id and held.registry = registry.id)`,
    [JSON.stringify({ ...EVERYTHING, ...terms })],
  )
}

/** Replaces what a participant is granted in a registry by everything but what these terms say otherwise. */
export async function grant(
  { db }: { readonly db: Database },
  sender_id: string,
  namespace: string,
  terms: Partial<GrantTerms>,
): Promise<void> {
  const participant = await findParticipant(db, sender_id)
  if (participant === null) throw new Error(`no participant ${sender_id}`)
  const registry = await requireRegistry(db, namespace)
  await addGrant(db, { participant, registry }, { ...EVERYTHING, ...terms }, { replace: true })
}
