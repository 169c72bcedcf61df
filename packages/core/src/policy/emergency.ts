/** The emergency part of a grant: more of one person is shown, for a reason that the operator reads afterwards. */
import { ItemRejection, type RecordType, timestampInstant } from '@rollcall/protocol'
import { ALL, type Grant, isGranted } from '../model/grant.ts'
import { AHEAD, type Consenting, EMERGENCY } from './basis.ts'
import { GrantProblem } from './grant-problem.ts'
import { visibleIn } from './visible.ts'

/** Characters of a reason, blanks at its ends not counted. */
const REASON = { least: 10, most: 1_000 } as const
/** Seconds that an emergency may be old: a day. */
const MOST_AGE = 86_400

type ReadGrant = Omit<Grant, 'id' | 'emergency'>

/**
 * The grant that counts in an emergency: it asks for one person by one identifier, by the participant's own authority,
 * within its own quota alone, and shows what the grant shows and more. What it does not mention is as it is otherwise.
 * @param recordTypes that are granted
 * @throws GrantProblem
 */
export function readEmergency(grant: ReadGrant, recordTypes: readonly RecordType[]): ReadGrant {
  const { records_per_day: _, records_per_minute: __, ...counted } = grant.terms
  const { consent: ___, authorities: ____, ...terms } = counted
  const { see, purposes = [], emergency } = terms
  if (!isGranted(grant.operations, 'search')) throw new GrantProblem('emergency', 'needs the operation search')
  if (purposes.includes(EMERGENCY)) {
    throw new GrantProblem('purposes', `must not have ${EMERGENCY} beside an emergency part`)
  }
  // The identifier of one person finds such a record, and it is of several.
  const personal = recordTypes.filter(({ identifiers }) => identifiers.every(({ names }) => names !== 'part'))
  const more = emergency?.see ?? []
  const all = see === ALL || more === ALL ? ALL : [...see, ...more]
  return {
    ...grant,
    terms: { ...terms, see: all, query_forms: ['identifier'], basis: 'authorize', purposes: [EMERGENCY] },
    recordTypes: new Set(personal.map(({ name }) => name)),
    queryForms: new Set(['identifier']),
    visible: all === ALL ? null : visibleMore(grant, recordTypes, all),
    // It reaches no protected person, also of categories that the grant names.
    hidden: { ...grant.hidden, categories: [] },
  }
}

function visibleMore(
  { identifiers: { kind } }: ReadGrant,
  recordTypes: readonly RecordType[],
  names: readonly string[],
): Grant['visible'] {
  try {
    return visibleIn(kind, recordTypes, names)
  } catch (error) {
    // The names of the grant itself were read before.
    throw error instanceof GrantProblem ? new GrantProblem('emergency.see', error.rule) : error
  }
}

/** @throws ItemRejection rjct.search_criteria.invalid: a record of this type is about several persons */
export function checkPersonal({ grant }: Emergency, { name }: Pick<RecordType, 'name'>): void {
  if (isGranted(grant.recordTypes, name)) return
  throw new ItemRejection(
    'rjct.search_criteria.invalid',
    `search_criteria.reg_record_type: must not be ${name} in an emergency, which is about one person`,
  )
}

/** What counts for an item that asks as an emergency. */
export interface Emergency {
  readonly grant: Grant
  /** As the participant gives it: it may be personal data. */
  readonly reason: string
}

/**
 * Whether an item asks as an emergency.
 * @returns null: it does not, or the grant has no emergency part
 * @throws ItemRejection rjct.search_criteria.invalid: it says no reason, or is not of now
 */
export function emergencyOf(
  { id, emergency }: Pick<Grant, 'id' | 'emergency'>,
  { authorize }: Consenting,
  now: Date,
): Emergency | null {
  if (emergency === undefined || authorize?.purpose?.code !== EMERGENCY) return null
  const { ts, purpose } = authorize
  const at = ts === undefined ? null : timestampInstant(ts)
  const age = at === null ? Number.NaN : (now.getTime() - at) / 1_000
  if (!(age >= -AHEAD && age <= MOST_AGE)) throw refused('ts: must be of the last 24 hours in an emergency')
  const reason = purpose.text?.trim() ?? ''
  if (reason.length < REASON.least || reason.length > REASON.most) {
    throw refused(`purpose.text: must say the reason of the emergency, in ${REASON.least} to ${REASON.most} characters`)
  }
  return { grant: { ...emergency, id }, reason }
}

const refused = (rule: string): ItemRejection =>
  new ItemRejection('rjct.search_criteria.invalid', `search_criteria.authorize.${rule}`)
