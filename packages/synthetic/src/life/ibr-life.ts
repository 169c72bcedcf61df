/** Events of a beneficiary registry: people are enrolled, suspended and active again, and enrolments end. */
import { ibr } from '../kinds/ibr.ts'
import { PROGRAMMES, type Programme } from '../kinds/programmes.ts'
import { personAt } from '../people.ts'
import type { RandomStream } from '../stream.ts'
import type { LifeEvent, LifeEventType, RegistryStartState } from './life-row.ts'
import { newPeopleEventType } from './other-lives.ts'

/** Codes of the IBR enrolment_status list. */
const STATUS_CODES = { active: '1', graduated: '3', suspended: '4' } as const

/** The number of random attempts to find an enrolment for an event. If all fail, there is no event. */
const MOST_ENROLMENT_TRIES = 40

/** The status of each enrolment of a person, by the identifier of the programme. */
type StatusByProgramme = Map<string, string>

/** Makes the types of events of a beneficiary registry, which share what they know of enrolments. */
export function ibrEventTypes(beginning: RegistryStartState): readonly LifeEventType[] {
  const { population, documents, today } = beginning
  const known = new Map<number, StatusByProgramme>()
  const enrolmentsOf = (index: number): StatusByProgramme => {
    const enrolments = known.get(index) ?? enrolmentsIn(ibr.document(population, index))
    known.set(index, enrolments)
    return enrolments
  }
  const event = (reg_event_type: string, index: number, programme: object, status: string): LifeEvent => {
    const enrolment = { ...programme, enrolment_status: status, status_change_date: today() }
    const member = { member_identifier: personAt(population, index).uin, programme_identifier: enrolment }
    return { reg_event_type, record: { '@type': 'Beneficiary', member } }
  }

  /** Enrols a person in one more programme. */
  const enrol = (stream: RandomStream): readonly LifeEvent[] => {
    const index = stream.below(documents)
    const enrolments = enrolmentsOf(index)
    const open = PROGRAMMES.filter((programme) => isProgrammeOpenTo(programme, personAt(population, index).age, enrolments))
    const [first, ...others] = open
    if (first === undefined) return []
    const { programme_identifier, programme_name } = stream.pick([first, ...others])
    enrolments.set(programme_identifier, STATUS_CODES.active)
    const begun = { programme: { programme_identifier, programme_name }, enrolment_date: today() }
    return [event('enrollement', index, begun, STATUS_CODES.active)]
  }

  /** Changes an enrolment that has one of the statuses `from` to the status `to`. */
  const change =
    (from: readonly string[], to: string) =>
    (stream: RandomStream): readonly LifeEvent[] => {
      for (let tries = 0; tries < MOST_ENROLMENT_TRIES; tries++) {
        const index = stream.below(documents)
        const enrolments = enrolmentsOf(index)
        const found = [...enrolments].find(([, status]) => from.includes(status))
        if (found === undefined) continue
        const [programme_identifier] = found
        enrolments.set(programme_identifier, to)
        return [event('enrollement_status_change', index, { programme: { programme_identifier } }, to)]
      }
      return []
    }

  return [
    { ...newPeopleEventType(ibr, 'enrollement', beginning), weight: 25 },
    { name: 'enrolments', weight: 25, happen: enrol },
    { name: 'suspensions', weight: 20, happen: change([STATUS_CODES.active], STATUS_CODES.suspended) },
    { name: 'resumptions', weight: 10, happen: change([STATUS_CODES.suspended], STATUS_CODES.active) },
    { name: 'ends', weight: 20, happen: change([STATUS_CODES.active, STATUS_CODES.suspended], STATUS_CODES.graduated) },
  ]
}

const isProgrammeOpenTo = ({ programme_identifier, ages: [from, to] }: Programme, age: number, enrolments: StatusByProgramme) =>
  age >= from && age <= to && !enrolments.has(programme_identifier)

interface GeneratedEnrolment {
  readonly programme: { readonly programme_identifier: string }
  readonly enrolment_status: string
}

/** Reads the enrolments from a generated document, and turns labels of statuses into codes. */
function enrolmentsIn(document: object): StatusByProgramme {
  const { member } = document as { member: { programme_identifier: GeneratedEnrolment | readonly GeneratedEnrolment[] } }
  const all = [member.programme_identifier].flat()
  return new Map(
    all.map(({ programme, enrolment_status }) => [
      programme.programme_identifier,
      STATUS_CODE_BY_LABEL.get(enrolment_status) ?? enrolment_status,
    ]),
  )
}

const STATUS_CODE_BY_LABEL: ReadonlyMap<string, string> = new Map([
  ['Active', STATUS_CODES.active],
  ['Graduated', STATUS_CODES.graduated],
  ['Suspended', STATUS_CODES.suspended],
])
