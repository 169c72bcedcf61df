/** Whether subscribers may see protected persons, by the grants that count now. */
import type { ClientBase } from 'pg'

interface Asked {
  readonly subscription: number
  /** Of the record that an event is about. */
  readonly categories: readonly string[]
}

/** Of each, whether the grant of its subscriber names all of the categories. */
export async function maySeeProtected(
  client: Pick<ClientBase, 'query'>,
  asked: readonly Asked[],
): Promise<readonly boolean[]> {
  const { rows } = await client.query<{ at: number }>(
    `select asked.at::int from unnest($1::int[], $2::text[]) with ordinality as asked (subscription, categories, at)
       join subscription on subscription.id = asked.subscription
       join participant_grant as held
         on held.participant = subscription.participant and held.registry = subscription.registry
     where held.revoked_at is null and held.valid_from <= now()
       and (held.valid_until is null or held.valid_until > now())
       and (held.terms -> 'protected' = '"all"'::jsonb
         or asked.categories::jsonb <@ coalesce(held.terms -> 'protected', '[]'::jsonb))`,
    [
      asked.map(({ subscription }) => subscription),
      asked.map(({ categories }) => JSON.stringify(categories)),
    ],
  )
  const found = new Set(rows.map(({ at }) => at - 1))
  return asked.map((_, at) => found.has(at))
}
