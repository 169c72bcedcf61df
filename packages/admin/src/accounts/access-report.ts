/** The answer to a person who asks who has seen the data: in plain words, for people and for programs. */

import Type from 'typebox'
import { act } from '../act.ts'
import { closed, instant, personalData, text, timeOut } from '../members.ts'
import type { HasVault } from '../needs.ts'
import { type Access, type AccessReport, accessPage, Report } from './access-page.ts'
import { type LooksOfMonth, wordsOf } from './looks-by-month.ts'
import { auditOf, type PersonAudit } from './person-looks.ts'

/** Reports access to a person's data. People who work for the registry are not named: the person asks the registry. */
export const reportAccess = act(
  {
    name: 'audit person',
    approval: 'never',
    entry: 'within',
    input: closed({
      type: text('Type of an identifier, such as UIN.'),
      value: personalData(text('Its value.')),
      from: Type.Optional(instant('Only what was at this time or later.')),
      to: Type.Optional(instant('Only what was before this time.')),
    }),
    result: closed({ html: personalData(text('The report as a page.')), report: personalData(Report) }),
  },
  async (
    needs: HasVault & { readonly now?: () => Date },
    { type, value, from, to },
    enter,
  ): Promise<{ readonly html: string; readonly report: AccessReport }> => {
    const audit = await auditOf(needs, { type, value, from, to }, enter)
    const { seen, written, asked } = audit.months
    const months = { seen: withoutEntries(seen), written: withoutEntries(written), asked: withoutEntries(asked) }
    const names = new Map([...seen, ...written, ...asked].map(({ sender_id, who }) => [sender_id, who]))
    const described = (looks: PersonAudit['seen']) =>
      looks.map((look) => accessOf(look, names.get(look.participant) ?? ''))
    const { now = () => new Date() } = needs
    const report = {
      made_at: timeOut(now()),
      from: from ?? null,
      to: to ?? null,
      identifier: { type, value },
      seen: described(audit.seen),
      written: described(audit.written),
      asked: described(audit.asked),
      months,
    }
    return { html: accessPage(report), report }
  },
)

type Look = PersonAudit['seen'][number]

/** The ids of entries mean nothing to the person. */
const withoutEntries = (months: readonly LooksOfMonth[]): AccessReport['months']['seen'] =>
  months.map(({ entries: _, ...month }) => month)

const accessOf = (look: Look, who: string): Access => ({
  at: look.at,
  who,
  sender_id: look.participant,
  registry: look.registry,
  what: `${WHAT[look.kind]}${look.again ? ' (an earlier answer was given again)' : ''}${look.unsent ? ' (it was not sent: no data left)' : ''}`,
  basis: basisOf(look),
  purpose: look.purpose,
  data: [...new Set(Object.values(look.shown).flat().flatMap(dataName))].sort(),
})

const WHAT: Readonly<Record<Look['kind'], string>> = {
  answer: 'A question was answered',
  acknowledgement: 'A question was accepted',
  callback: 'A question was answered later',
  unsent: 'A message that was not sent',
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

/** A path of a document as words; nothing where it is for programs. */
function dataName(path: string): readonly string[] {
  const words = wordsOf(path)
  return words === null ? [] : [words.join(' / ')]
}
