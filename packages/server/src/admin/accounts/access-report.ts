/** The answer to a person who asks who has seen the data: in plain words, for people and for programs. */
import Type from 'typebox'
import { listParticipants } from '../../store/directory/participants.ts'
import { closed, instant, personalData, text, timeOut } from '../members.ts'
import type { HasAccounts, HasVault } from '../needs.ts'
import { useCase } from '../use-case.ts'
import { type Access, type AccessReport, accessPage, Report } from './access-page.ts'
import { auditPerson, type PersonAudit } from './person-looks.ts'

/** People who work for the registry are not named: whom to ask is the registry. */
export const reportAccess = useCase(
  {
    input: closed({
      type: text('Type of an identifier, such as UIN.'),
      value: personalData(text('Its value.')),
      from: Type.Optional(instant('Only what was at this time or later.')),
      to: Type.Optional(instant('Only what was before this time.')),
    }),
    result: closed({ html: personalData(text('The report as a page.')), report: personalData(Report) }),
  },
  async (
    needs: HasVault & HasAccounts & { readonly now?: () => Date },
    { type, value, from, to },
  ): Promise<{ readonly html: string; readonly report: AccessReport }> => {
    const audit = await auditPerson(needs, { type, value, from, to })
    const names = new Map((await listParticipants(needs.db)).map(({ sender_id, name }) => [sender_id, name]))
    const described = (looks: PersonAudit['seen']) => looks.map((look) => accessOf(look, names))
    const { now = () => new Date() } = needs
    const report = {
      ...{ made_at: timeOut(now()), from: from ?? null, to: to ?? null, identifier: { type, value } },
      ...{ seen: described(audit.seen), written: described(audit.written), asked: described(audit.asked) },
    }
    return { html: accessPage(report), report }
  },
)

type Look = PersonAudit['seen'][number]

const accessOf = (look: Look, names: ReadonlyMap<string, string>): Access => ({
  at: look.at,
  who:
    look.participant === null
      ? 'An employee of the registry, or a program of it'
      : (names.get(look.participant) ?? look.participant),
  sender_id: look.participant,
  registry: look.registry,
  what: `${WHAT[look.kind]}${look.again ? ' (an earlier answer was given again)' : ''}`,
  basis: basisOf(look),
  purpose: look.purpose,
  data: [...new Set(Object.values(look.shown).flat().map(dataName))].sort(),
})

const WHAT: Readonly<Record<Look['kind'], string>> = {
  answer: 'A question was answered',
  acknowledgement: 'A question was accepted',
  callback: 'A question was answered later',
  notification: 'An event was reported',
  refusal: 'A question was refused',
  operator: 'The data were looked at, or changed',
}

const BASES: Readonly<Record<string, string>> = {
  law: 'A law, or an agreement that follows from it',
  consent: 'A consent, as the institution states',
  authorize: 'An authority, as the institution states',
}

function basisOf({ basis, consent, emergency, participant }: Look): string {
  if (participant === null) return 'The work of the registry'
  if (emergency) return 'An emergency, as the institution states'
  if (consent?.form === 'signed') return 'A consent that was signed'
  return BASES[basis ?? ''] ?? 'Not known'
}

/** A path of a document as words. Type and value of an identifier are one thing. */
const dataName = (path: string): string =>
  path
    .split('.')
    .filter((part) => part !== 'identifier_type' && part !== 'identifier_value')
    .map((part) => part.replaceAll('_', ' '))
    .join(' / ') || 'identifier'
