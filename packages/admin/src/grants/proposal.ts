/** Proposes a narrower grant from what a participant has used, according to the audit log. */

import { entriesOfParticipant } from '@rollcall/audit/store/read-entries'
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { ALL_NAMES, type Grant, type GrantTerms, QUERY_FORMS } from '@rollcall/core/model/grant'
import { readTerms } from '@rollcall/core/policy/grant'
import { listNeededGrantNames } from '@rollcall/core/policy/used-names'
import { listSubscribedTypes } from '@rollcall/delivery/store/events/subscription-list'
import { listGrants } from '@rollcall/participants/store/grants'
import { type Kind, namesOf, operationsOf, resolveRecordType, searchKey } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, Namespace, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { isInForce } from './grants.ts'
import { GrantTermsSchema } from './terms.ts'

const DAY_MS = 86_400_000
/** A proposed quota is this times the most items (records) of one day, at least `LEAST_QUOTA`, at most the granted quota. */
const QUOTA_FACTOR = 1.5
const LEAST_QUOTA = 10

/**
 * Suggests narrower terms than those of the grant in force: what the participant has used in the last days, and the members of
 * the grant whose use the audit log does not show. Nothing is granted, and no act waits for a second operator.
 */
export const proposeGrant = defineAct(
  {
    name: 'grant propose',
    approval: 'never',
    input: closed({
      sender_id: SenderId,
      namespace: Namespace,
      days: wholeNumber('Days of the audit log, until now.', 1, 3_660),
    }),
    result: closed({
      terms: GrantTermsSchema,
      from: instant('From when on the audit log was read.'),
      days: wholeNumber('Days that have an audit entry.'),
      entries: wholeNumber('Entries that were read.'),
      left_out: Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'By member of the grant, the names that are granted and were not used.',
      }),
      unchanged: Type.Array(text('A member of the grant that the audit log says nothing of.')),
    }),
  },
  async (deps: HasDatabase & { readonly now?: () => Date }, { sender_id, namespace, days }) => {
    const { db, now = () => new Date() } = deps
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const rows = await listGrants(db, { participant: participant.id, registry: registry.id })
    const granted = rows.find((row) => isInForce(row, now()))
    if (granted === undefined)
      throw new AdminRefusal(`${sender_id} has no grant in force in ${namespace}`, { reason: 'not_found' })
    const from = new Date(now().getTime() - days * DAY_MS)
    const used = newGrantUse()
    for await (const { at, entry } of entriesOfParticipant(db, { participant: sender_id, registry: namespace, from })) {
      addEntryUse(used, at, entry)
    }
    const owner = { participant: participant.id, registry: registry.id }
    for (const { event_type, record_type } of await listSubscribedTypes(db, owner)) {
      used.subscribed = true
      used.eventTypes.add(event_type)
      used.recordTypes.add(record_type)
      for (const name of ['subscribe', 'unsubscribe']) used.operations.add(name)
    }
    if (used.operations.size === 0) {
      throw new AdminRefusal(
        `${sender_id} has used nothing in ${namespace} in ${days} days of the audit log: rollcall grant revoke ends the grant`,
      )
    }
    const proposed = proposeTerms(registry.kind, granted.terms, used)
    // Throws if the proposed terms cannot be granted.
    readTerms(registry.kind, proposed)
    return {
      terms: proposed,
      from: from.toISOString(),
      days: used.perDay.size,
      entries: used.entries,
      left_out: findNamesLeftOutOfProposal(registry.kind, granted.terms, proposed),
      unchanged: TERMS_NOT_IN_AUDIT_LOG.filter((name) => proposed[name] !== undefined),
    }
  },
)

/** Members of terms whose values the audit log does not have: a proposal takes them from the grant, or leaves them out. */
const TERMS_NOT_IN_AUDIT_LOG = [
  ...(['identifier_types', 'rows', 'protected', 'minors', 'programmes', 'unfiltered', 'basis', 'counts'] as const),
  ...(['page_size', 'items_per_minute', 'records_per_minute', 'emergency', 'valid_until'] as const),
]

interface GrantUse {
  readonly operations: Set<string>
  readonly recordTypes: Set<string>
  readonly forms: Set<string>
  readonly attributes: Set<string>
  readonly purposes: Set<string>
  readonly eventTypes: Set<string>
  readonly shown: Map<string, Set<string>>
  readonly perDay: Map<string, { items: number; records: number }>
  entries: number
  emergencies: number
  subscribed: boolean
}

const newGrantUse = (): GrantUse => ({
  operations: new Set(),
  recordTypes: new Set(),
  forms: new Set(),
  attributes: new Set(),
  purposes: new Set(),
  eventTypes: new Set(),
  shown: new Map(),
  perDay: new Map(),
  entries: 0,
  emergencies: 0,
  subscribed: false,
})

/** Adds to `use` what an audit entry shows. A refused request and an emergency are only counted: they add no names, no quotas. */
function addEntryUse(use: GrantUse, at: Date, entry: StoredAuditEntry): void {
  use.entries += 1
  const day = at.toISOString().slice(0, 10)
  const counts = use.perDay.get(day) ?? { items: 0, records: 0 }
  use.perDay.set(day, counts)
  if (entry.emergency === true) use.emergencies += 1
  const { kind, operation, asked, outcomes, records } = entry
  const answered = outcomes.succ ?? 0
  if (entry.emergency === true || answered === 0) return
  for (const [name, paths] of Object.entries(entry.shown)) {
    const known = use.shown.get(name) ?? new Set()
    use.shown.set(name, known)
    for (const path of paths) known.add(path)
    use.recordTypes.add(name)
  }
  if (operation === null || (kind !== 'answer' && kind !== 'callback')) return
  counts.items += answered
  counts.records += Math.max(records, answered)
  use.operations.add(operation)
  for (const name of asked.record_types) use.recordTypes.add(name)
  for (const name of asked.forms) use.forms.add(name)
  for (const name of asked.attributes) use.attributes.add(name)
  for (const name of entry.purpose?.split(', ') ?? []) use.purposes.add(name)
}

function proposeTerms(kind: Kind, terms: GrantTerms, use: GrantUse): GrantTerms {
  const grant = readTerms(kind, terms)
  const { valid_from: _, emergency, programmes, unfiltered, ...rest } = terms
  const recordTypes = kind.record_types.filter(
    ({ name }) => use.recordTypes.has(name) && grant.kind.record_types.some((row) => row.name === name),
  )
  const granted = recordTypes.length === 0 ? grant.kind.record_types.map(({ name }) => name) : recordTypes.map(({ name }) => name)
  const types = kind.record_types.filter(({ name }) => granted.includes(name))
  const ask = askedAttributes(grant, granted, use.attributes)
  const forms = QUERY_FORMS.filter((form) => grant.queryForms.has(form) && isUsedForm(form, use))
  const event_types = kind.event_types.map(({ name }) => name).filter((name) => use.eventTypes.has(name))
  const shown = Object.fromEntries([...use.shown].map(([name, paths]) => [name, [...paths]]))
  const purposes = terms.purposes?.filter((name) => use.purposes.has(name)) ?? []
  return {
    ...omitMembers(rest, ['ask', 'query_forms', 'event_types', 'rows']),
    operations: operationsOf(kind).flatMap(({ name }) => (use.operations.has(name) ? [name] : [])),
    record_types: granted,
    ...(forms.some((form) => form !== 'identifier') && { query_forms: forms }),
    ...(ask.length > 0 && { ask }),
    see: [...listNeededGrantNames(kind, types, terms.see, shown)],
    ...(terms.rows && { rows: conditionsOfRecordTypes(terms.rows, kind, granted) }),
    ...(event_types.length > 0 && { event_types }),
    ...(unfiltered === true && use.subscribed && { unfiltered }),
    ...(programmes !== undefined && use.operations.has('enrolment-updates') && { programmes }),
    ...(purposes.length > 0 && { purposes }),
    ...quotasOf(terms, use),
    ...(emergency !== undefined && use.emergencies > 0 && { emergency }),
  }
}

const omitMembers = <Value extends object, Name extends keyof Value>(value: Value, names: readonly Name[]) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.some((one) => one === name))) as Omit<Value, Name>

/** True when the participant needs the form. A query by identifier that sorts by attributes needs expression too. */
const isUsedForm = (form: string, { forms, attributes }: GrantUse): boolean =>
  forms.has(form) || (form === 'expression' && forms.has('identifier') && attributes.size > 0)

/** Returns the kind's names of the attributes that were asked about. An age adds the date that it is calculated from. */
function askedAttributes(grant: Pick<Grant, 'kind'>, granted: readonly string[], asked: ReadonlySet<string>) {
  const keys = new Set([...asked].map(searchKey))
  const types = grant.kind.record_types.filter(({ name }) => granted.includes(name))
  const rows = types.flatMap(({ attributes, compounds = [] }) => [
    ...attributes,
    ...compounds.flatMap((compound) => [compound, ...compound.members]),
  ])
  const used = rows.filter((row) => namesOf(row).some((name) => keys.has(searchKey(name))))
  const dates = used.flatMap((row) => ('since' in row && typeof row.since === 'string' ? [row.since] : []))
  return [...new Set([...used.map(({ name }) => name), ...dates])]
}

const conditionsOfRecordTypes = (rows: GrantTerms['rows'] & {}, kind: Kind, granted: readonly string[]) =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => granted.includes(resolveRecordType(kind, name)?.name ?? '')))

/** The quotas of a proposal. They never exceed the granted ones. */
function quotasOf(terms: GrantTerms, { perDay }: GrantUse): Pick<GrantTerms, 'items_per_day' | 'records_per_day'> {
  const quota = (largest: number, granted: number | undefined): number =>
    Math.min(granted ?? Number.POSITIVE_INFINITY, Math.max(LEAST_QUOTA, Math.ceil(largest * QUOTA_FACTOR)))
  const days = [...perDay.values()]
  return {
    items_per_day: quota(Math.max(0, ...days.map(({ items }) => items)), terms.items_per_day),
    records_per_day: quota(Math.max(0, ...days.map(({ records }) => records)), terms.records_per_day),
  }
}

/** Returns, by member of the terms, the granted names that are not proposed; under `members`, the members left out whole. */
function findNamesLeftOutOfProposal(kind: Kind, terms: GrantTerms, proposed: GrantTerms): Record<string, string[]> {
  const attributes = kind.record_types.flatMap((row) => row.attributes.map(({ name }) => name))
  const all: Readonly<Record<string, readonly string[]>> = {
    operations: operationsOf(kind).map(({ name }) => name),
    record_types: kind.record_types.map(({ name }) => name),
    query_forms: QUERY_FORMS,
    ask: attributes,
    see: attributes,
    event_types: kind.event_types.map(({ name }) => name),
    purposes: [],
  }
  const lists = Object.entries(all).map(([name, every]): [string, string[]] => {
    const member = name as 'operations'
    const [before, after] = [namesInTermsMember(terms[member], every), namesInTermsMember(proposed[member], every)]
    return [name, [...new Set(before)].filter((one) => !after.includes(one))]
  })
  const whole = (['emergency', 'programmes', 'unfiltered'] as const).filter(
    (name) => (terms[name] ?? false) !== false && proposed[name] === undefined,
  )
  return Object.fromEntries([...lists, ['members', [...whole]] as [string, string[]]].filter(([, names]) => names.length > 0))
}

const namesInTermsMember = (granted: GrantTerms['operations'] | undefined, every: readonly string[]): readonly string[] =>
  granted === ALL_NAMES ? every : (granted ?? [])
