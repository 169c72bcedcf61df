/** Enrols those who are eligible, and answers who asks whether they still are. */
import { type EnrolmentLabel, onCheckEnrolment, type Peer, Receiver, RegistryClient } from '@rollcall/client'
import type { Application } from './applications.ts'
import type { Checked } from './check.ts'
import { PROGRAMME } from './programme.ts'
import { clientOptions, peersOf, type Settings } from './settings.ts'

export interface Enrolled {
  readonly application: string
  readonly outcome: 'enrolled' | 'not enrolled' | 'refused'
  /** What the registry says of it. */
  readonly reason: string | null
}

const eligible = (applications: readonly Application[], decisions: readonly Checked[]): readonly Application[] =>
  applications.filter((_, at) => decisions[at]?.decision === 'eligible')

/**
 * Sends the enrolments to the beneficiary registry, and asks it about each: what counts is what the registry says. To
 * run it again changes nothing, because each enrolment has its date.
 * @param today as `YYYY-MM-DD`
 */
export async function enrol(
  settings: Settings,
  applications: readonly Application[],
  decisions: readonly Checked[],
  today: string,
): Promise<readonly Enrolled[]> {
  const ibr = new RegistryClient(clientOptions(settings, 'ibr'))
  const { identifier, name } = PROGRAMME
  const chosen = eligible(applications, decisions)
  if (chosen.length === 0) return []
  const beneficiaries = chosen.map(({ uin }) => ({
    '@type': 'Beneficiary',
    member: {
      member_identifier: uin,
      programme_identifier: {
        programme: { programme_identifier: identifier, programme_name: name },
        enrolment_date: today,
        enrolment_status: 'Active',
        status_change_date: today,
      },
    },
  }))
  const updates = await ibr.updateEnrolments(beneficiaries, { receipt_type: 'enrollement' })
  const told: Enrolled[] = []
  for (const [at, { application, uin }] of chosen.entries()) {
    const { ok = false, message: reason = null } = updates[at] ?? {}
    const isEnrolled = ok && (await ibr.enrolled({ person: uin, programme: identifier }))
    told.push({ application, outcome: isEnrolled ? 'enrolled' : ok ? 'not enrolled' : 'refused', reason })
  }
  return told
}

/** The status of each person whom we have enrolled: what an employment support system asks us for. */
export function statusesOf(
  applications: readonly Application[],
  decisions: readonly Checked[],
): ReadonlyMap<string, EnrolmentLabel> {
  return new Map(eligible(applications, decisions).map(({ uin }) => [uin, 'Active']))
}

/** Answers at `registry/sync/check-enrollment`, to registries that sign with the keys that they publish. */
export function answering(
  settings: Settings,
  statuses: ReadonlyMap<string, EnrolmentLabel>,
  peers: readonly Peer[] = peersOf(settings),
): Receiver {
  const { sender_id, sign } = settings.participant
  return new Receiver({
    receiver_id: sender_id,
    peers,
    signing: { key: sign.private_jwk },
    answers: { 'enrolment-status': onCheckEnrolment(({ person }) => statuses.get(person) ?? null) },
  })
}
