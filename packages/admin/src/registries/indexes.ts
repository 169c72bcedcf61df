/** Compares the indexes that searches need with those that exist, and builds the missing ones. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { oneOf } from '@rollcall/protocol'
import { planIndexes as plan } from '@rollcall/records/records/index-plan'
import { type ApplyIndexesOptions, applyIndexes as apply } from '@rollcall/records/registries/index-apply'
import { listRegistries, requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, Namespace, RecordTypeName, text } from '../members.ts'

const Names = (description: string) => Type.Array(Type.String(), { description })
const REGISTRY_OR_ALL = closed({ namespace: Type.Optional(text('Namespace of one registry (default: all registries).')) })

export const IndexPlan = closed({
  namespace: Namespace,
  record_type: RecordTypeName,
  unfilled: Names('Attributes and compounds whose columns are to be filled.'),
  missing: Type.Array(
    closed({
      index: text('Name of the index.'),
      of: text('The attribute or compound that it is for.'),
      state: oneOf(['missing', 'invalid'], { description: 'invalid: its build was interrupted.' }),
    }),
  ),
  foreign: Names('Indexes that belong to nothing declared.'),
})

/** Compares the declared indexes with those that exist, and changes nothing. */
export const planIndexes = defineAdminFunction(
  { input: REGISTRY_OR_ALL, result: Type.Array(IndexPlan) },
  async ({ db }: HasDatabase, { namespace }) => {
    const registries = await oneOrAllRegistries(db, namespace)
    const plans = await Promise.all(registries.map((registry) => plan(db, registry)))
    return plans.flat()
  },
)

/** Fills the missing columns and builds the missing indexes. If it is stopped, what is done stays. */
export const applyIndexes = defineAct(
  {
    name: 'index apply',
    approval: 'never',
    input: REGISTRY_OR_ALL,
    result: Type.Array(
      closed({
        namespace: Namespace,
        built: Names('Indexes that were built.'),
        filled: Names('Attributes and compounds whose columns were filled, such as Person.district.'),
        finished: flag('False: it was stopped; the next call goes on from there.'),
      }),
    ),
  },
  async ({ db, signal, onProgress }: HasDatabase & ApplyIndexesOptions, input) => {
    const options = { ...(signal && { signal }), ...(onProgress && { onProgress }) }
    const done = []
    for (const { namespace } of await oneOrAllRegistries(db, input.namespace)) {
      if (signal?.aborted) break
      done.push({ namespace, ...(await apply(db, namespace, options)) })
    }
    return done
  },
)

/** Lists the registries that this version can read, each with the record types that need a backfill. */
export async function listRecordTypesToBackfill({
  db,
}: HasDatabase): Promise<readonly { namespace: string; record_types: readonly string[] }[]> {
  const registries = await listRegistries(db)
  return registries.map(({ namespace, unfilled }) => ({ namespace, record_types: [...unfilled.keys()] }))
}

async function oneOrAllRegistries(db: Database, namespace: string | undefined): Promise<readonly Registry[]> {
  return namespace === undefined ? listRegistries(db) : [await requireRegistry(db, namespace)]
}
