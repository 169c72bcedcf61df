/** Shows how a mirror follows the source of a registry, and which rows of the source cannot become records. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { oneOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { findMirror, type MirrorState, requestComparison } from '@rollcall/source/store/mirrors'
import { rejectedRows } from '@rollcall/source/store/source-rows'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, instant, isoTime, markPersonal, Namespace, orNull, RecordTypeName, text, wholeNumber } from '../members.ts'

const MIRROR_STATES = ['waiting', 'loading', 'following', 'comparing', 'failing'] as const

const STATUS = closed({
  namespace: Namespace,
  state: oneOf(MIRROR_STATES, {
    description:
      'waiting: no node has begun; loading: its records are read for the first time, and it does not answer; following: changes are read; comparing: so they are, and all records are compared; failing: the last attempt failed.',
  }),
  answers: flag('Whether it answers: all records were read once.'),
  followed: flag('Whether a node follows the source now.'),
  lag_seconds: orNull(
    Type.Number({ description: 'Seconds for which changes of the source may be missing here; null: it does not answer.' }),
  ),
  behind: wholeNumber('Rows that are known to have changed and are not written yet.'),
  rejects: wholeNumber('Rows that are no record, or not as they are now.'),
  compared_at: orNull(instant('When the last comparison of all records began that has ended.')),
  failure: orNull(text('Why it cannot be followed now.')),
  failed_at: orNull(instant('Since when.')),
  advice: orNull(text('What to do; null: nothing.')),
})

/** Shows how far a mirror has followed its source. */
export const showSourceStatus = defineAdminFunction(
  { input: closed({ namespace: Namespace }), result: STATUS },
  async ({ db }: HasDatabase, { namespace }) => {
    const registry = await requireMirroredRegistry(db, namespace)
    const mirror = (await findMirror(db, registry.id)) ?? UNBEGUN_MIRROR
    const { lag, behind, rejects, compared_at, failure, failed_at, followed } = mirror
    const answers = registry.awaits_records !== true
    const state = mirrorStateOf(mirror, answers)
    return {
      namespace,
      state,
      answers,
      followed,
      lag_seconds: answers && lag !== null ? Math.round(lag * 10) / 10 : null,
      behind,
      rejects,
      compared_at: isoTime(compared_at),
      failure,
      failed_at: isoTime(failed_at),
      advice: mirrorAdvice(mirror, state),
    }
  },
)

const UNBEGUN_MIRROR: MirrorState = {
  compared_at: null,
  comparison: null,
  lag: null,
  behind: 0,
  rejects: 0,
  failure: null,
  failed_at: null,
  followed: false,
}

function mirrorStateOf({ comparison, failure, followed }: MirrorState, answers: boolean): (typeof MIRROR_STATES)[number] {
  if (failure !== null) return 'failing'
  if (!answers) return followed ? 'loading' : 'waiting'
  return comparison === null ? 'following' : 'comparing'
}

function mirrorAdvice({ followed, rejects }: MirrorState, state: (typeof MIRROR_STATES)[number]): string | null {
  if (state === 'failing') {
    return 'mend what it says in the source, or give the registry another source file; it is tried again by itself, and goes on where it was'
  }
  if (!followed) return 'start rollcall serve, with the address of the source in its environment: a node of it follows the source'
  if (rejects > 0) return 'rollcall source rejects lists rows that are no record; each is tried again when it changes'
  return null
}

/** Lists the rows of a source whose newest state cannot become a record. A key is often a person's identifier. */
export const listSourceRejects = defineAct(
  {
    name: 'source rejects',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      after_record_type: Type.Optional(RecordTypeName),
      after: Type.Optional(markPersonal(text('The key of the last row of the page before.'))),
      limit: Type.Optional(wholeNumber('Most rows (default: 50).', 1, 1_001)),
    }),
    result: Type.Array(
      closed({
        record_type: RecordTypeName,
        key: markPersonal(text('Key of the row in the source.')),
        reason: text('Why it is no record; it names columns and rules, and no value.'),
      }),
    ),
  },
  async ({ db }: HasDatabase, { namespace, after, after_record_type, limit = 50 }) => {
    const registry = await requireMirroredRegistry(db, namespace)
    const record_type = after_record_type ?? registry.kind.record_types[0]?.name ?? ''
    const from = after === undefined ? null : { record_type, key: after }
    return [...(await rejectedRows(db, registry.id, { after: from, limit }))]
  },
)

/** Asks for a comparison of a mirror with its source, in addition to the daily one. */
export const compareSource = defineAct(
  {
    name: 'source compare',
    approval: 'never',
    input: closed({ namespace: Namespace }),
    result: closed({ namespace: Namespace, wanted: flag('True: a node begins within seconds.') }),
  },
  async ({ db }: HasDatabase, { namespace }) => {
    const registry = await requireMirroredRegistry(db, namespace)
    if (!(await requestComparison(db, registry.id))) {
      throw new AdminRefusal(`the records of ${namespace} are being read for the first time; wait for the end of that`)
    }
    return { namespace, wanted: true }
  },
)

/** Finds a registry that has a mirror. @throws AdminRefusal the registry has none */
async function requireMirroredRegistry(db: Database, namespace: string): Promise<Registry> {
  const registry = await requireRegistry(db, namespace)
  if (registry.own_records && registry.source !== null) return registry
  throw new AdminRefusal(
    registry.source === null
      ? `${namespace} has no source: its records are imported or written here`
      : `${namespace} is read live from its source, and nothing is copied; rollcall source check ${namespace} says how it is`,
  )
}
