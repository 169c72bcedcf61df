/** The preview of a grant: a synthetic record, whole and as the participant would see it. */

import type { Grant } from '@rollcall/core/model/grant'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { Registry } from '@rollcall/core/model/registry'
import { PathCollector } from '@rollcall/core/policy/disclosed-paths'
import { discloseRecords } from '@rollcall/core/policy/disclosure'
import { readTerms } from '@rollcall/core/policy/grant'
import { grantWithHiddenPersons } from '@rollcall/core/policy/hidden'
import { canonicalJson, dayIn, type JsonObject, type RecordType } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { requireRecordType } from '@rollcall/records/registries/registry-attributes'
import Type, { type Static } from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { closed, flag, Namespace, orNull, RecordTypeName, SenderId } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { type HasSamples, syntheticRecords } from '../registries/samples.ts'
import { checkTerms } from './check-terms.ts'
import { requireGrantInForce } from './grants.ts'
import { GrantTermsSchema } from './terms.ts'

const PathList = (description: string) => Type.Array(Type.String(), { description })

const Document = (description: string) => Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true, description }))

const PREVIEW = closed({
  record_type: RecordTypeName,
  granted: flag('Whether records of this type may be found at all.'),
  found: flag('Whether the record fulfils the conditions of the grant. Otherwise it is not found.'),
  before: Document('A synthetic record, whole.'),
  after: orNull(Document('What is shown of it; null: nothing.')),
  shown: PathList('Paths of values that are shown, without positions in lists.'),
  cut: PathList('Paths of values of which nothing is shown.'),
})
type Preview = Static<typeof PREVIEW>

/** The most synthetic records that are tried to find one that fulfils the conditions of the grant. */
const MOST_SAMPLES = 100

/** Shows synthetic records, whole and as the grant in force, or terms that are not granted yet, disclose them. */
export const previewGrant = defineAdminFunction(
  {
    input: closed({
      sender_id: SenderId,
      namespace: Namespace,
      terms: Type.Optional(GrantTermsSchema),
      record_type: Type.Optional(RecordTypeName),
    }),
    result: closed({
      sender_id: SenderId,
      namespace: Namespace,
      records: Type.Array(PREVIEW, {
        description: 'One for each record type of the registry, or for the one that is asked for.',
      }),
    }),
  },
  async (
    { db, samples, now = () => new Date() }: HasSamples & { readonly now?: () => Date },
    { sender_id, namespace, terms, record_type },
  ) => {
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const granted =
      terms === undefined
        ? (await requireGrantInForce(db, { participant, registry }, now())).terms
        : checkTerms(registry, terms, ['terms'])
    const day = dayIn(registry.time_zone, now().getTime())
    const read = { id: 0, ...readTerms(registry.kind, granted) }
    const grant = grantWithHiddenPersons(read, registry, NOBODY_PROTECTED, day)
    const types = record_type === undefined ? registry.kind.record_types : [requireRecordType(registry, record_type)]
    const records = types.flatMap((type) => makePreview({ samples }, registry, type, grant))
    if (records.length > 0) return { sender_id, namespace, records }
    throw new AdminRefusal(`there is no synthetic record of ${namespace}`, { reason: 'not_found' })
  },
)

function makePreview(deps: Pick<HasSamples, 'samples'>, registry: Registry, recordType: RecordType, grant: Grant): Preview[] {
  const { name: record_type } = recordType
  const granted = grant.recordTypes === null || grant.recordTypes.has(record_type)
  let first: JsonObject | undefined
  let tried = 0
  for (const before of syntheticRecords(deps, registry, recordType)) {
    first ??= before
    const [shown] = discloseRecords(grant, recordType, [canonicalJson(before)])
    if (shown !== undefined) {
      const after = JSON.parse(shown.text) as JsonObject
      return [{ record_type, granted, found: true, before, after, ...comparePaths(before, after) }]
    }
    tried += 1
    if (!granted || tried >= MOST_SAMPLES) break
  }
  if (first === undefined) return []
  return [{ record_type, granted, found: false, before: first, after: null, ...comparePaths(first, {}) }]
}

function comparePaths(before: JsonObject, after: JsonObject) {
  const shown = new PathCollector().collect(after)
  const kept = new Set(shown)
  return { shown: [...shown], cut: new PathCollector().collect(before).filter((path) => !kept.has(path)) }
}
